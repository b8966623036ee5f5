"""The reference pages of `layers`."""

WRITE = "mem_write"

SHORT = """A memory in layers: a short hot layer to know in every session, a cold layer with everything, summaries. Nothing is
loaded by itself: call mem_hot_get first; if it is over its limit, shorten it with mem_hot_set (it replaces: give back all
that is to stay). Write details worth keeping with mem_write, set important only for what may belong into the hot layer, and
add a new topic with mem_topics_add. When something does not come to mind: mem_recent(3); then the topics of mem_hot_get for
the month; then mem_by_date for that month; mem_recall with one to three telling words last. At the end of a day, week or
month: mem_summarize.
分层记忆：开始先 mem_hot_get，超限先用 mem_hot_set 精简（全量覆盖）；值得记的用 mem_write，新主题补 mem_topics_add；
想不起来：mem_recent(3) → 主题索引定月份 → mem_by_date → 最后才 mem_recall；收尾用 mem_summarize。"""

LAYOUT = """# Files of a memory in layers

```
hot.md                            the hot layer: a text of a few hundred characters, candidates, topics
cold/<YYYY-MM>/<YYYY-MM-DD>.md    the cold layer: a file a day, an entry a line
summaries/day|week|month/…        summaries, copied from the entries and cut; nothing is invented
```

- An entry is `- [time] [tag] text` on one line, at most 4,000 characters; `-` stands for no tag. The time is UTC, the file
  is that of the local day. Lines of another form are left alone, and not found.
- Candidates (`<!-- candidates:start -->` … `end`) wait to join the hot text. Topics (`topics:start` … `end`) are lines
  `topic|YYYY-MM`: in which months to look. Neither counts towards the limit.
- The cold layer only grows. The hot text is replaced as a whole. A summary stays as it was made until it is made anew.
- A hot layer over its limit is kept, and says so.

# 分层记忆的文件

- `hot.md`：热层正文（几百字）、候选区、主题索引（`主题|年月`）；候选和主题不计字数。
- `cold/<年月>/<日期>.md`：冷层，一天一个文件，一行一条 `- [时间] [标签] 正文`；时间是 UTC，文件按本地日期。
- `summaries/`：日、周、月摘要，只抽取原文；不会自动更新。
- 冷层只追加；热层正文是全量覆盖；超过上限也照写，只是提示。
"""

USAGE = """# Using a memory in layers

**At the start** of a session: mem_hot_get. If overLimit is true, shorten: work what is worth it of the candidates into the
text, drop the rest, and give mem_hot_set the whole text that is to stand.

**When to remember.** mem_write for every detail that a later conversation would miss: without it, it would ask again, decide
again or misread the user. Not everything that came up. One thing an entry, with names, numbers and dates. `important` only for
who the user is, lasting agreements and what is under way. On a new topic, or an old one in a new month: mem_topics_add.

**Finding, from near to far.** Stop at the first step that answers:

1. mem_recent(3): the last three days;
2. the topics of mem_hot_get: in which month was it?
3. mem_by_date for that month, from its first day to its last;
4. mem_recall over all months, with one to three telling words; too many: one more word; none: fewer, or mode "or".

mem_by_tag goes through a category. Files themselves need not be read.

**At the end** of a day and a week mem_summarize, once a month for the month; mem_stats tells whether anything is too large.

# 使用建议

**开始**先 mem_hot_get；超限就把值得留的候选提炼进正文，用 mem_hot_set 写回整段正文。

**何时记。** 以后不知道就会重复提问、重复决定、误解用户的细节，用 mem_write 随手记；一条一件事，写清名字、数字、日期。
身份、长期约定、正在推进的事才用 important；新主题（或旧主题的新月份）补 mem_topics_add。

**怎么找：由近及远。** mem_recent(3) → 主题索引定位月份 → mem_by_date 取那个月 → 最后才 mem_recall，一到三个最有区分度的词；
按类回顾用 mem_by_tag。

**收尾**每天、每周、每月用 mem_summarize；是否臃肿看 mem_stats。
"""
