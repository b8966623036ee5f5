"""The reference pages of `workspace`."""

WRITE = "memory_store"

SHORT = """A memory of Markdown files that outlasts this conversation; only what was written to it can be recalled. For a
question about the past (what was said or decided, preferences, to-dos, dates, people) call memory_search before you answer,
with one to three telling words, then memory_get only for the lines around a hit. When the user says to remember something,
or something is settled that is to last: memory_store, longterm for what stays true, daily for what happened today. To be
forgotten: memory_forget marks it for a person to look through. After many changes by hand: memory_sync.
记忆以文件为准。问到以前、偏好、待办、日期、人物，先 memory_search（一到三个词），再用 memory_get 取那几行；
要记住的用 memory_store；要忘记的用 memory_forget 标记；手工改过很多文件后 memory_sync。"""

LAYOUT = """# Files of a workspace

```
MEMORY.md                 long-term memory; `## Store` is where memory_store adds, `## Forgotten` where memory_forget does
memory/<YYYY-MM-DD>.md    the log of a day; it only grows
memory/**/*.md            more logs and notes, as people and agents wrote them
memory/index.sqlite       a search index, if memory_sync made one; it can be deleted and made anew
session/transcript.md     a chat transcript, where one is switched on; not a file on disk
```

- The files decide, not the index: what changed since it was made is read from the files.
- A line that was stored is `- <time> text`, one line an entry. It is never changed or lost.
- memory_forget deletes nothing: it notes what is to be forgotten, and searches leave out entries equal to that.
- A path is one that memory_search returns; memory_get takes no others.

# 工作区的文件

- `MEMORY.md`：长期记忆；`## Store` 是 memory_store 追加的地方，`## Forgotten` 是 memory_forget 标记的地方。
- `memory/<日期>.md`：按日的日志，只追加；`memory/` 下其他 .md 也会检索到。
- `memory/index.sqlite`：可选的检索索引，可删可重建；以文件为准。
- 写入的一行不会改也不会丢；memory_forget 只标记，不删除。
"""

USAGE = """# Using a workspace

**When to remember.** When the user says so, and for every decision, preference or fact without which a later conversation
would ask again, decide again or misread the user. Not everything that came up. One fact an entry, understandable by itself,
with names, numbers and dates: `longterm` for what stays true, `daily` for what happened or was done today.

**Finding, from near to far.**

1. what the conversation already holds, and `memkit://context`, the last days;
2. memory_search with one to three telling words (a name, an object, a number), not a sentence: an entry must hold every
   word. Nothing found: fewer words, or others for the same thing;
3. memory_get(path, from, lines) for the lines around a hit. Read a whole file only when those are not enough.

**To be forgotten:** memory_forget with the entry's full text hides it from searches; a gist is a note for a person.

**After many changes by hand,** memory_sync makes searching quick again; the answers are the same without.

# 使用建议

**何时记。** 用户说“记住”，或者定下了决定、偏好、事实，以后不知道就会重复提问、重复决定、误解用户。一条一件事，
写清名字、数字、日期：长期有效的写 `longterm`，当天的事写 `daily`。

**怎么找：由近及远。** 先看会话里已有的和最近几天（`memkit://context`）；再 memory_search，
一到三个最有区分度的词，没有就减词或换个说法；再用 memory_get 取命中前后的几行；不够才读整个文件。

**要忘记的**用 memory_forget：给出条目全文，检索就不再返回；只写大意则留给人看。手工改过很多文件后 memory_sync 一次。
"""
