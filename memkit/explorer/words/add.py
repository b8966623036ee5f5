"""What the tab Add says, in English and in Chinese."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    "add_off": (
        "Adding is off here. To append, correct and forget, open it with {call}. "
        "(The mend in Audit and the files in Summaries are written only when you press their button.)",
        "此处未开启添加功能。要添加、更正或遗忘条目，请用 {call} 打开。（“核对”里的修复、“摘要”里的文件，按下按钮才会写入。）",
    ),
    "add_verbs": ("What to do", "操作"),
    "add_append": ("Append", "添加"),
    "add_correct": ("Correct", "更正"),
    "add_forget": ("Forget", "遗忘"),
    "add_about_append": (
        "One new entry, at the end of today's file.",
        "在今天的文件末尾添加一个新条目。",
    ),
    "add_about_correct": (
        "What is right about an earlier day, as a new entry of today; the day itself stays as it is.",
        "把对过去某一天的更正写成今天的新条目；那一天的文件保持不变。",
    ),
    "add_about_forget": (
        "Take an entry out for good, by its exact text, with every copy that was made of it; or put another text in its place.",
        "按条目的完整原文将其彻底删除，连同由它生成的所有副本；也可用别的内容代替。",
    ),
    "add_text_append": ("Text", "内容"),
    "add_tag_append": ("Tag (optional)", "标签（可不填）"),
    "add_important_append": ("Important: also a candidate for the hot layer", "重要：同时列入热层（hot.md）候选"),
    "add_date_correct": ("The day that is corrected", "被更正的日期"),
    "add_subject_correct": ("What it said", "原来的说法"),
    "add_text_correct": ("What is right", "正确的说法"),
    "add_text_forget": ("The entry's exact text", "条目的完整原文"),
    "add_date_forget": ("Only of this day (optional)", "仅限这一天（可不填）"),
    "add_replacement_forget": ("Put in its place (optional)", "代替的内容（可不填）"),
    "add_plan": ("Show the plan", "查看方案"),
    "add_differs": (
        "The fields have changed since this plan was made; nothing was written. Look at the new plan first.",
        "方案给出后内容已修改；未写入任何内容，请先查看新的方案。",
    ),
}
