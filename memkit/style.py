"""The style sheet of everything that memkit shows as HTML; nothing else."""

# `&` stands for the root, tripled so that it wins over JupyterLab's own rules for tables and lists.
CSS = """
&{box-sizing:border-box;max-width:860px;margin:4px 0;text-align:left;line-height:1.5;overflow-wrap:anywhere;
color:var(--jp-ui-font-color1,inherit);font-family:var(--jp-ui-font-family,system-ui,sans-serif);
font-size:var(--jp-ui-font-size1,13px);--q:var(--jp-ui-font-color2,color-mix(in srgb,currentColor 65%,transparent));
--l:var(--jp-border-color2,rgba(128,128,128,.3))}
&.card{padding:14px 18px;border:1px solid var(--l);border-radius:8px;background:var(--jp-layout-color1,transparent)}
& .q{color:var(--q)}& code{font:.95em var(--jp-code-font-family,ui-monospace,monospace);background:none;padding:0}
& .f{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 26px;margin:6px 0 8px}& .f b{font-size:1.25em;font-weight:600}
& .h{font-size:1.25em;font-weight:600;margin-right:8px}& p{margin:5px 0 0}& p.v{margin:9px 0}
& .s{margin-right:4px;padding:1px 9px;border-radius:9px;white-space:nowrap;font-weight:500;
background:color-mix(in srgb,var(--c) 14%,transparent);box-shadow:inset 0 0 0 1px color-mix(in srgb,var(--c) 40%,transparent)}
& .error{--c:var(--jp-error-color1,#d32f2f)}& .warning{--c:var(--jp-warn-color1,#e67700)}
& .info{--c:var(--jp-info-color1,#0288a7)}& .ok{--c:var(--jp-success-color1,#388e3c)}
& table{margin:0;border-collapse:collapse;table-layout:auto;font-size:inherit;color:inherit;
font-variant-numeric:tabular-nums}
& thead{border:0}& tbody tr{background:none}& th{font-weight:500}& thead th{color:var(--q)}
& th,& td{padding:2px 14px 2px 0;border:0;text-align:left;vertical-align:top;line-height:1.45;white-space:nowrap}
& tr>:last-child{padding-right:0}& .n,& .bars td,& .bars thead th{text-align:right}& .bars :nth-child(2){width:100%}
& i{display:block;height:8px;margin-top:5px;min-width:2px;border-radius:2px;
background:var(--jp-brand-color1,#1976d2);opacity:.75}
& .t{overflow-x:auto}& .t tbody tr{border-top:1px solid var(--l)}& td.w{white-space:normal;min-width:22em}
& details{border-top:1px solid var(--l);padding:6px 0}& summary{cursor:pointer}& details>div{margin-left:18px}
& ul{list-style:none;margin:0;padding:0}& li{margin:8px 0 2px 18px;padding-left:10px;border-left:2px solid var(--c)}
""".replace("&", ".mk.mk.mk").replace("\n", "")

# Only plans need it; a card stays small.
DIFF = """
& pre{white-space:pre-wrap;margin:8px 0;padding:0;background:none;color:inherit;border:0;line-height:1.5;
font:.95em var(--jp-code-font-family,ui-monospace,monospace)}& .d{display:block;padding:0 6px;border-left:2px solid transparent}
& .d.ok,& .d.error{border-color:var(--c);background:color-mix(in srgb,var(--c) 12%,transparent)}& .d.b{font-weight:600}
""".replace("&", ".mk.mk.mk").replace("\n", "")
