"""The stories. Each begins in a browser that has just opened the page."""

import concurrent.futures
import json
import urllib.parse

from axe_playwright_python.sync_playwright import Axe
from Page.payloads import PAYLOADS

VIEWS = ["requests", "approvals", "store", "policy", "trust", "recordings", "settings", "charts"]


def until(page, condition):
    """Waits until the expression is true. The page's policy forbids `eval`, with which Playwright's own wait repeats an expression."""
    for _ in range(1200):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never true: {condition}")


def row(page, text):
    return page.locator("main tbody tr", has=page.get_by_role("link", name=text)).first


def live(page):
    """Waits until the list is loaded, and so until new requests appear."""
    until(page, "document.querySelector('main [role=status]')?.textContent.includes('New ones appear')")


def view(page, name):
    page.goto(f"{page.evaluate('location.origin')}/#{name}")
    page.locator(f"nav a[aria-current][data-view={name.split('?')[0]}]").wait_for()
    until(page, "!document.querySelector('main').textContent.includes('Loading.')")


def why_miss(stage, page):
    """Why did this request miss? The details say that its response was not stored, by which section of the RFC."""
    live(page)
    stage.fetch(stage.url("api.example", "/private/why"))
    row(page, "/private/why").get_by_role("link").click()
    details = page.get_by_role("region", name="Details of a request")
    details.get_by_text("not stored").wait_for()
    text = details.inner_text()
    assert "RFC 9111 §5.2.2.5" in text and "no-store" in text, text
    assert details.get_by_role("img").get_attribute("aria-label").startswith("Total ")
    assert "curl -v -g -x http://127.0.0.1" in details.inner_text()


def purge(stage, page):
    """A stored response is purged from the details, and the next request misses."""
    url = stage.url("packages.example", "/kept/purge")
    stage.fetch(url)
    live(page)
    stage.fetch(url)
    row(page, "/kept/purge").get_by_text("hit", exact=True).wait_for()
    row(page, "/kept/purge").get_by_role("link").click()
    page.get_by_role("button", name="Purge this URL").click()
    page.get_by_text("1 stored response purged.").wait_for()
    stage.fetch(url)
    row(page, "/kept/purge").get_by_text("miss", exact=True).wait_for()
    view(page, "store")
    page.get_by_label("Host").fill("packages.example")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("button", name="/kept/purge").click()
    page.get_by_role("region", name="A stored response").get_by_text("max-age=3600").wait_for()
    # The purge of a search removes what the list shows, also if the form has changed since.
    other = stage.url("cdn.example", "/kept/stays")
    stage.fetch(other)
    page.get_by_label("Host").fill("cdn.example")
    page.get_by_role("button", name="Purge all responses that match").click()
    page.get_by_role("button", name="Purge them now?").click()
    page.get_by_text("1 stored response purged.").wait_for()
    # A URL with a star would select other responses too, so the details do not offer to purge it.
    stage.fetch(stage.url("cdn.example", "/kept/*"))
    view(page, "requests")
    row(page, "/kept/*").get_by_role("link").click()
    page.get_by_role("region", name="Details of a request").get_by_role("heading", name="Decisions").wait_for()
    assert page.get_by_role("button", name="Purge this URL").count() == 0, "the details offer to purge a pattern"
    stage.fetch(other)
    row(page, "/kept/stays").get_by_text("hit", exact=True).wait_for()


def denied(stage, page):
    """A denied request shows the rule that would allow it; with that rule, it is allowed."""
    live(page)
    url = stage.url("unlisted.example", "/new/path")
    assert stage.fetch(url) == 403
    row(page, "/new/path").get_by_role("link").click()
    page.get_by_text("No rule allows this request.").wait_for()
    text = page.get_by_role("region", name="Details of a request").locator("pre").first.inner_text()
    view(page, "policy")
    rule = text.split("\n")[1].strip()
    page.get_by_role("region", name="Denials of unlisted.example").get_by_text(rule).wait_for()
    stage.write_rules([rule])
    view(page, "settings")
    page.get_by_role("button", name="Reload the settings").click()
    page.get_by_text("The settings were reloaded.").wait_for()
    assert stage.fetch(url) == 200
    assert stage.fetch(stage.url("ads.example", "/banner")) == 403
    view(page, "requests?only=denied&host=ads.example")
    row(page, "/banner").get_by_role("link").click()
    page.get_by_text("The rule no ads denies this request.").wait_for()


def filter(stage, page):  # noqa: A001
    """The filter selects on the server, its address keeps it, and new requests obey it."""
    for path in ["/kept/apple", "/kept/pear"]:
        stage.fetch(stage.url("cdn.example", path))
    page.get_by_label("URL contains").fill("APPLE")
    until(page, "location.hash.includes('text=APPLE')")
    row(page, "/kept/apple").wait_for()
    until(page, "[...document.querySelectorAll('main tbody a')].every((link) => link.textContent.includes('apple'))")
    live(page)
    stage.fetch(stage.url("cdn.example", "/kept/pear2"))
    stage.fetch(stage.url("cdn.example", "/kept/apple2"))
    row(page, "/kept/apple2").wait_for()
    assert page.get_by_role("link", name="/kept/pear2").count() == 0
    page.reload()
    row(page, "/kept/apple2").wait_for()
    assert page.get_by_label("URL contains").input_value() == "APPLE" and page.get_by_role("link", name="pear").count() == 0


def keyboard(stage, page):
    """Everything works without a mouse: filter, list, details and back."""
    for path in ["/keys/1", "/keys/2", "/keys/3"]:
        stage.fetch(stage.url("api.example", path))
    live(page)
    page.keyboard.press("/")
    page.keyboard.type("/keys/")
    until(page, "location.hash.includes('keys')")
    until(page, "document.querySelectorAll('main tbody tr').length === 3")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    focused = "document.activeElement.textContent"
    assert page.evaluate(focused).endswith("/keys/2"), page.evaluate(focused)
    page.keyboard.press("Enter")
    page.get_by_role("region", name="Details of a request").get_by_text("Decisions").wait_for()
    assert "/keys/2" in page.evaluate(focused)
    page.keyboard.press("Escape")
    until(page, "document.activeElement.closest('tbody') !== null")
    assert page.evaluate(focused).endswith("/keys/2")
    page.keyboard.press("ArrowUp")
    assert page.evaluate(focused).endswith("/keys/3")
    page.keyboard.press("End")
    assert page.evaluate(focused).endswith("/keys/1")


def scripts(stage, page):
    """100 hostile texts in URLs, fields and names of rules stay texts: no script runs."""
    for index, payload in enumerate(PAYLOADS):
        quoted = urllib.parse.quote(payload, safe="/'()*!;:@$&=,")
        stage.fetch(stage.url("cdn.example", f"/kept/x{index}/{quoted}?q={quoted}"), X_Echo=payload.encode("ascii", "ignore").decode() or "x")
    for index in range(3):
        assert stage.fetch(stage.url("cdn.example", f"/named{index}")) == 403
    view(page, "requests?text=/kept/x&host=cdn.example")
    until(page, "document.querySelectorAll('main tbody tr').length >= 100")
    ids = page.evaluate("[...document.querySelectorAll('main tbody tr')].map((row) => row.dataset.id)")
    for identifier in ids[::10]:
        page.evaluate("(id) => { location.hash = `#requests?text=/kept/x&id=${id}`; }", identifier)
        page.get_by_role("region", name="Details of a request").get_by_text(identifier).wait_for()
    for name in ["requests?only=denied", *VIEWS]:
        view(page, name)
    view(page, "store?host=cdn.example")
    page.get_by_role("button", name="/kept/x0/").wait_for()
    page.get_by_role("button", name="/kept/x0/").click()
    page.get_by_role("region", name="A stored response").get_by_text("x-echoed", exact=False).first.wait_for()
    view(page, "policy")
    page.get_by_text("<img src=x onerror=alert(1)>").first.wait_for()
    assert page.evaluate("document.querySelectorAll('main img, main script, main iframe, main object, main [onerror]').length") == 0
    hash_payload = "#requests?text=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&id=%22%3E%3Cscript%3Ealert(1)%3C/script%3E"
    page.goto(f"{stage.address(page)}/{hash_payload}")
    page.get_by_role("alert").wait_for()
    # The address names no request, which the browser reports as an error of the network.
    stage.contexts[page][:] = [fault for fault in stage.faults(page) if "status of 400" not in fault]


def other_site(stage, page):
    """A page of another origin reads nothing, changes nothing, and cannot show the page in a frame."""
    target = stage.address(page)
    other = page.context.new_page()
    other.goto(stage.url("127.0.0.1", "/attack"))
    outcome = other.evaluate("""async (target) => {
      const results = {};
      const attempts = {
        read: () => fetch(`${target}/v1/requests`, {credentials: "include"}).then((response) => response.text()),
        blind: () => fetch(`${target}/v1/mode?mode=offline`, {method: "POST", mode: "no-cors", credentials: "include"}).then(() => "sent"),
        custom: () => fetch(`${target}/v1/mode?mode=offline`, {method: "POST", credentials: "include", headers: {"X-Larder": "1"}}).then((response) => response.text()),
        script: () => new Promise((done) => {
          const script = document.createElement("script");
          script.src = `${target}/page.js`;
          script.onload = () => done("loaded");
          script.onerror = () => done("refused");
          document.head.append(script);
        }),
        stream: () => new Promise((done) => {
          const events = new EventSource(`${target}/v1/events`, {withCredentials: true});
          events.onopen = () => done("open");
          events.onerror = () => { events.close(); done("refused"); };
        }),
      };
      for (const [name, attempt] of Object.entries(attempts)) {
        try { results[name] = String(await attempt()); } catch { results[name] = "refused"; }
      }
      return results;
    }""", target)
    assert outcome["read"] == "refused" and outcome["custom"] == "refused" and outcome["script"] == "refused", outcome
    assert outcome["stream"] == "refused", outcome
    other.evaluate("""(target) => new Promise((done) => {
      const frame = document.createElement("iframe");
      frame.src = target;
      frame.onload = done;
      document.body.append(frame);
    })""", target)
    assert not any(frame.url.startswith(target) and frame.query_selector("nav") for frame in other.frames)
    view(page, "recordings")
    assert page.get_by_role("combobox", name="Mode").input_value() == "live"


def accessible(stage, page):
    """axe finds nothing serious in any view, light or dark; no view needs more than 360 pixels."""
    stage.fetch(stage.url("ads.example", "/axe"))
    axe = Axe()
    for scheme, width in [("light", 1280), ("dark", 1280), ("light", 360), ("dark", 360)]:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        # A short list, because axe looks at every element.
        short = {"requests": "requests?host=ads.example", "store": "store?url=http://packages.example:*/kept/purge"}
        for name in VIEWS if width == 1280 else ["requests", "policy", "store"]:
            view(page, short.get(name, name))
            if name == "requests":
                live(page)
                until(page, "document.querySelectorAll('main tbody tr').length <= 5")
                row(page, "/axe").get_by_role("link").click()
                page.get_by_role("region", name="Details of a request").get_by_text("Decisions").wait_for()
            found = [item for item in axe.run(page).response["violations"] if item["impact"] in ("serious", "critical")]
            shown = [(item["id"], item["nodes"][0]["target"], item["nodes"][0].get("failureSummary", "")) for item in found]
            assert not found, f"{name}, {scheme}, {width}: {shown}"
            needed = page.evaluate("document.scrollingElement.scrollWidth")
            assert needed <= width, f"{name} needs {needed} pixels of {width}"


def session(stage, page):
    """A link works once, another browser needs its own, and a session shows no token in its address."""
    assert "token" not in page.url
    link = stage.link()
    other = stage.browser.new_context()
    stranger = other.new_page()
    assert stranger.goto(stage.address(page)).status == 403
    assert stranger.goto(link).status == 200 and "token" not in stranger.url
    assert stranger.goto(link).status == 403
    assert page.evaluate("document.cookie") == ""
    other.close()


def approvals(stage, page):
    """A request waits for a person, who allows it; a second one is denied until Larder stops, and a third needs no question."""
    url = stage.url("ask.example", "/kept/asked")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        view(page, "approvals")
        page.get_by_text("No request waits.").wait_for()
        asked = pool.submit(stage.fetch, url)
        question = page.get_by_role("region", name=f"Question about {url}")
        question.get_by_text("by the rule a person decides").wait_for()
        assert not asked.done()
        page.get_by_role("link", name="Approvals (1)").wait_for()
        faults = Axe().run(page).response["violations"]
        assert not faults, json.dumps(faults)
        question.get_by_role("button", name="Allow").click()
        assert asked.result(60) == 200
        page.get_by_text(f"Allowed: GET {url}").wait_for()
        refused = pool.submit(stage.fetch, url)
        question.get_by_label("For").select_option("run")
        question.get_by_role("button", name="Deny").click()
        assert refused.result(60) == 403
        page.get_by_text("No request waits.").wait_for()
        assert stage.fetch(url) == 403


def save_har(stage, page):
    """The shown requests are saved as a HAR file, oldest first."""
    live(page)
    for path in ["/kept/har?n=1", "/kept/har?n=2"]:
        stage.fetch(stage.url("packages.example", path))
    view(page, "requests?text=/kept/har")
    row(page, "/kept/har?n=2").wait_for()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as HAR").click()
    assert saved.value.suggested_filename == "larder.har"
    log = json.loads(open(saved.value.path()).read())["log"]
    entries = [(entry["request"]["url"], entry["response"]["status"]) for entry in log["entries"]]
    assert log["version"] == "1.2" and entries == [(stage.url("packages.example", f"/kept/har?n={n}"), 200) for n in (1, 2)], entries
    assert log["entries"][0]["request"]["queryString"] == [{"name": "n", "value": "1"}]


def picture(stage, file):
    """The picture of docs/ui.md."""
    page = stage.open(viewport={"width": 1200, "height": 720}, color_scheme="light")
    live(page)
    for host, path in [
        ("packages.example", "/debian/dists/stable/InRelease"), ("packages.example", "/debian/pool/main/c/curl/curl.deb"),
        ("api.example", "/private/v1/status"), ("packages.example", "/debian/pool/main/c/curl/curl.deb"), ("ads.example", "/banner.js"),
        ("cdn.example", "/lib/app.js"), ("cdn.example", "/lib/app.js"), ("unlisted.example", "/v2/upload"),
    ]:
        stage.fetch(stage.url(host, path))
    row(page, "/v2/upload").get_by_role("link").click()
    page.reload()
    live(page)
    page.get_by_role("region", name="Details of a request").get_by_text("Decisions").wait_for()
    page.get_by_text(", mode live, ").wait_for()
    page.emulate_media(reduced_motion="reduce")
    page.screenshot(path=file)
    page.context.close()


ALL = [why_miss, purge, denied, filter, keyboard, scripts, other_site, accessible, session, approvals, save_har]
