"""The reference pages of `archive`."""

WRITE = "archive_append"

SHORT = """A long-term memory: one file a day, a catalog to find days by. Other conversations wrote it and will read it.
Start with archive_recent. For a question about the past, search before you answer: archive_search with one to three telling
words (a name, an object, a number, the user's own phrase), not a sentence; too many hits: allOf; none: other words.
archive_read only when the surroundings of a hit matter. The newer of two entries that disagree counts. Write with
archive_append what a later conversation would miss: decisions and reasons, agreements, experiences, open ends. Wrong:
archive_correct. archive_forget only when the user asks, and after a yes to what it shows.
长期记忆：一天一个文件。开始先 archive_recent；问到以前先 archive_search（一到三个有区分度的词），必要时才 archive_read 整天；
值得记的用 archive_append，记错了用 archive_correct，用户要求忘记才 archive_forget。"""

LAYOUT = """# Files of an archive

```
archive/<YYYY>/<YYYY-MM-DD>.md   one file a day: the only authority; its name is its date
catalog/<YYYY>.tsv               one row a finished day: date, tab, index; made from the day files
```

Both lie in the vault's memory folder, such as `.agents/nutstore-sync/memory/`; tools name files from the vault.

- A day file begins with `date:` and `index:` between two lines `---`, then `## <date>` and an entry a list item.
- `index` is one line, in quotes, without tabs: the names, decisions, numbers, open ends and phrases of every topic of that
  day. It is there for searches to hit, so it is neither a list of tags nor a copy of the text. One is made from the entries
  unless it is given.
- Today's file only grows. At the end of the day, text and index freeze; corrections are entries of the day on which they
  are made. Only forgetting changes an old day, and only when the user asks.
- The catalog holds copies of the indexes. It can be deleted and made anew (archive_rebuild), and never decides anything.
- A person may read, change or delete every file. Files are found by date, never by line number.

# 档案的文件

- `archive/<年>/<日期>.md`：一天一个文件，唯一的依据；文件名就是日期，写入后不移动、不改名。
- `catalog/<年>.tsv`：由日文件复制来的目录，可删可重建（archive_rebuild），不反过来改正文。
- `index` 一行，带引号，没有制表符：写当天每个主题的名字、决定、数字、遗留和原话，供以后检索；不虚构，不照抄全文。
- 当天文件只追加；过了当天正文和 index 都冻结。更正写在更正的那一天；只有用户要求忘记时才改旧文件。
"""

USAGE = """# Using an archive

**When to remember.** Ask: would a conversation that does not know this repeat a question or a decision, misread the user, or
lose the thread? Then write it. It need not stay true for ever: an experience, a step on the way or something left open
counts as much as a lasting fact. That a thing came up is no reason.

**How.** One thing an entry, with names, numbers, dates and the user's own words: those are what somebody will look for.

**Finding, from near to far.** Stop at the first step that answers:

1. what the conversation already holds;
2. the last 30 days (`memkit://context`, archive_recent); a day among them can be read at once;
3. archive_search with one to three telling words. By itself it goes on from recent days to the catalog of all years, then
   to the index lines, at last to all text, and says in `step` how far it went. Too many hits: narrow with allOf or anyOf.
   None: the user may have put it in other words; try those;
4. archive_read a whole day only when the surroundings of a hit are needed. Do not read day after day.

**When two disagree,** the newer one counts; `correctedBy` tells on which day something was put right.

**Wrong:** archive_correct adds today what is right. **To be forgotten,** by the user's wish alone: archive_forget shows what
it would take away; after a yes, the same call with confirm.

# 使用建议

**何时记。** 如果以后的会话不知道这件事，会不会重复提问、重复决定、误解用户、接不上进展？会，就写。不必永远成立：
一次经历、一个阶段、一件没完的事都算；仅仅出现过不算。

**怎么记。** 一条一件事，留下名字、数字、日期和用户的原话。

**怎么找：由近及远，够了就停。** 先看会话里已有的；再看最近 30 天（archive_recent）；再用 archive_search，
给一到三个最有区分度的词，太多用 allOf 收窄，没有就换个说法；需要前后文才用 archive_read 读整天，不要逐日翻。

**说法不一致时以新的为准。** 记错了用 archive_correct；用户明确要求忘记才用 archive_forget，先给用户看，同意后再 confirm。
"""
