"""The page in a real Chromium, used as linguists use it."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

import pytest
from playwright.sync_api import Browser, Page, Request, Route, expect

from reinflect.data.features import Bundle, Labels
from reinflect.data.items import Item
from reinflect.inflector.dictionary import Dictionary
from reinflect.inflector.inflector import Inflector
from reinflect.report.model import model_page
from tests.browser.conftest import opened
from tests.fuzz import tiny_models
from tests.web.made_up import VERBS, MadeUp, german
from tests.web.running import running

PAST = "V;IND;PST;3;SG"
CLIPBOARD = ["clipboard-read", "clipboard-write"]
FITS = "document.documentElement.scrollWidth <= innerWidth"
SHARES = "cells => cells.map(cell => Number(cell.style.getPropertyValue('--share')))"


def inflect(page: Page, lemma: str, features: str) -> None:
    page.fill("#lemma", lemma)
    page.fill("#features", features)
    page.press("#features", "Enter")


def show_tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()


def make_table(page: Page, words: str) -> None:
    page.fill("#table-words", words)
    page.get_by_role("button", name="Make the table").click()


def alter(page: Page, address: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Let the server answer this with changes."""

    def answer(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, json=response.json() | change(response.json()))

    page.route(address, answer)


def downloaded(page: Page, button: str) -> bytes:
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    return download.value.path().read_bytes()


def test_pick_features_and_read_the_form_which_follows_the_typing(page: Page) -> None:
    page.fill("#lemma", "machen")
    for atom in ("V verb", "IND indicative", "PST past", "3 third person", "SG singular"):
        page.get_by_role("button", name=atom, exact=True).click()
    expect(page.locator("#features")).to_have_value(PAST)
    expect(page.locator("#form")).to_have_text("machte")
    expect(page.locator("#word-result .sure")).to_contain_text(re.compile(r"\d+ % confidence, 3 of 3 models"))
    expect(page.locator("#word-result .alternatives li").first).to_contain_text("gemacht")
    expect(page.locator("#word-message")).to_be_hidden()
    page.fill("#lemma", "fragen")
    expect(page.locator("#form")).to_have_text("fragte")


def test_a_feature_replaces_another_of_its_dimension(page: Page) -> None:
    inflect(page, "machen", PAST)
    page.get_by_role("button", name="PRS present").click()
    expect(page.locator("#features")).to_have_value("V;IND;PRS;3;SG")
    expect(page.locator("#form")).to_have_text("macht")
    expect(page.get_by_role("button", name="PST past")).to_have_attribute("aria-pressed", "false")
    expect(page.get_by_role("button", name="NFIN non-finite")).to_have_class(re.compile("unfit"))


def test_a_whole_combination_is_picked_or_its_label_typed(page: Page) -> None:
    page.fill("#lemma", "sagen")
    page.get_by_label("Combinations seen in training").select_option("V;IND;PST;2;SG")
    expect(page.locator("#form")).to_have_text("sagtest")
    expect(page.get_by_role("button", name="2 second person")).to_have_attribute("aria-pressed", "true")
    inflect(page, "machen", "participle")
    expect(page.locator("#form")).to_have_text("machend")
    expect(page.locator("#word-result .asked")).to_contain_text("participle")
    expect(page.get_by_role("button", name="V.PTCP participle")).to_have_attribute("aria-pressed", "true")


def test_typing_waits_for_the_model_and_keeps_its_place_while_the_page_still_starts(page: Page) -> None:
    asked: list[Route] = []
    page.route("**/api/models", lambda route: asked.append(route))

    def answer_next() -> None:
        while not asked:
            page.wait_for_timeout(10)
        asked.pop().continue_()

    page.reload()
    page.locator("#features").focus()
    page.keyboard.type("V;")
    expect(page.locator("#features")).to_have_value("")
    answer_next()
    page.wait_for_selector("#picker .chip")
    page.focus("#features")
    page.keyboard.type("V;")
    with page.expect_response("**/api/models"):
        answer_next()
    page.wait_for_timeout(100)
    page.keyboard.type("PST")
    expect(page.locator("#features")).to_have_value("V;PST")


def test_empty_fields_and_unusable_lines_are_named(page: Page) -> None:
    page.get_by_role("button", name="Inflect").click()
    expect(page.locator("#word-message")).to_have_text("There is no lemma. Type a word to inflect.")
    expect(page.locator("#lemma")).to_be_focused()
    expect(page.locator("#lemma")).to_have_attribute("aria-invalid", "true")
    page.fill("#lemma", "machen")
    page.get_by_role("button", name="Inflect").click()
    expect(page.locator("#word-message")).to_contain_text("There are no features")
    expect(page.locator("#features")).to_be_focused()
    show_tab(page, "Paradigm")
    page.fill("#paradigm-lemma", "")
    page.get_by_role("button", name="Show all forms").click()
    expect(page.locator("#paradigm-message")).to_contain_text("There is no lemma")
    show_tab(page, "Many words")
    page.get_by_role("button", name="Make the table").click()
    expect(page.locator("#table-message")).to_contain_text("There are no words")
    page.get_by_label("Forms to make of lemmas alone").select_option("only these forms")
    make_table(page, "machen")
    expect(page.locator("#table-message")).to_contain_text("no features")
    make_table(page, "machen\n\tV;PST\n")
    expect(page.locator("#table-message")).to_have_text("line 2 has no lemma.")


def test_what_the_model_has_not_seen_is_named_and_an_unknown_feature_can_be_replaced(page: Page) -> None:
    inflect(page, "machen", "V;IND;PTS;3;SG")
    expect(page.locator("#word-message")).to_contain_text("never seen the feature PTS")
    page.locator("#word-message").get_by_role("button", name="PST").click()
    expect(page.locator("#features")).to_have_value(PAST)
    expect(page.locator("#form")).to_have_text("machte")
    expect(page.locator("#word-message")).to_be_hidden()
    inflect(page, "mañen", "V;PST;SG")
    expect(page.locator("#word-message")).to_contain_text("not seen these features together")
    expect(page.locator("#word-message")).to_contain_text("ñ")


def test_open_the_paradigm_and_read_a_cell(page: Page) -> None:
    inflect(page, "machen", PAST)
    page.get_by_role("button", name="All forms").click()
    expect(page.locator("#paradigm")).to_be_visible()
    expect(page.locator("#paradigm-copy")).to_be_visible()
    expect(page.locator("#paradigm-tables button.cell")).to_have_count(14)
    row = page.locator("#paradigm-tables table").nth(1).locator("tbody tr").nth(2)
    expect(row.get_by_role("rowheader")).to_have_text("Third person")
    expect(row.locator("button.cell bdi").first).to_have_text("machte")
    cells = page.locator("button.cell")
    shares = set(cells.evaluate_all(SHARES))
    assert len(shares) > 3
    colours = cells.evaluate_all("cells => cells.map(cell => getComputedStyle(cell).backgroundColor)")
    assert len(set(colours)) == len(shares)
    row.locator("button.cell").first.click()
    expect(page.locator("dialog#cell .form")).to_have_text("machte")
    expect(page.locator("dialog#cell .alternatives li").first).to_contain_text("gemacht")
    page.keyboard.press("Escape")
    expect(page.locator("dialog#cell")).to_be_hidden()


def test_step_through_the_trace_by_keyboard(page: Page) -> None:
    inflect(page, "machen", PAST)
    page.get_by_role("button", name="Show the steps").click()
    stage, caption, grown = page.locator(".stage"), page.locator(".caption"), page.locator(".growing")
    expect(caption).to_contain_text("Step 1 of 9: copies m")
    stage.focus()
    places = []
    for form, letter in [("ma", "a"), ("mac", "c"), ("mach", "h"), ("mach", "e"), ("mach", "n"), ("macht", "⊣")]:
        page.keyboard.press("ArrowRight")
        expect(grown).to_have_text(form)
        expect(page.locator(".letter.here")).to_have_text(letter)
        places.append(page.locator(".pointer").evaluate("pointer => pointer.getBoundingClientRect().x"))
    assert places == sorted(set(places))
    expect(page.locator(".letter.deleted")).to_have_count(2)
    page.keyboard.press("Home")
    expect(grown).to_have_text("m")
    page.keyboard.press("End")
    expect(grown).to_have_text("machte")
    expect(caption).to_contain_text("stops")
    page.get_by_label("Model whose steps are shown").select_option("hacm-naive-1")
    expect(page.locator(".gate")).to_contain_text("copied")
    page.get_by_label("Model whose steps are shown").select_option("soft-1")
    expect(page.locator(".letter.feature")).to_have_text(["V", "IND", "PST", "3", "SG"])
    attention = "box => box.style.getPropertyValue('--attention')"
    assert [letter.evaluate(attention) for letter in page.locator(".letter").all()[:3]] == ["0.01", "0.9", "0.01"]


def test_play_the_trace(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}#word", reduced_motion="no-preference") as page:
        inflect(page, "machen", PAST)
        page.get_by_role("button", name="Show the steps").click()
        page.get_by_label("Speed").fill("4")
        expect(page.locator(".growing")).to_have_text("machte")
        expect(page.locator(".play")).to_have_text("Play")
        page.locator(".play").click()
        expect(page.locator(".play")).to_have_text("Pause")
        page.locator(".play").click()
        held = page.locator(".growing").inner_text()
        page.wait_for_timeout(400)
        assert page.locator(".growing").inner_text() == held


def test_paste_a_column_and_export_the_table(page: Page) -> None:
    show_tab(page, "Many words")
    page.get_by_label("Forms to make of lemmas alone").select_option("only these forms")
    page.fill("#table-bundle", PAST)
    page.press("#table-bundle", "Enter")
    make_table(page, "machen\r\nsagen\r\n\r\nfragen\tV;NFIN\r\n")
    expect(page.locator("#table-result tbody tr")).to_have_count(3)
    rows = [line.split("\t") for line in downloaded(page, "Download TSV").decode().splitlines()]
    assert rows[0] == ["lemma", "form", "features", "confidence"]
    assert [row[1:3] for row in rows[1:]] == [["machte", PAST], ["sagte", PAST], ["fragen", "V;NFIN"]]
    page.get_by_label("one lemma per row").check()
    words = ["lemma", "indicative, past tense, third person, singular", "non-finite"]
    expect(page.locator("#table-result thead th")).to_have_text(words)
    lines = [f"lemma,{PAST},V;NFIN", "machen,machte,", "sagen,sagte,", "fragen,,fragen"]
    assert downloaded(page, "Download CSV").decode("utf-8-sig").splitlines() == lines


def test_copy_the_table(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}#table", permissions=CLIPBOARD) as page:
        expect(page.locator("#table-forms option")).to_have_count(2)
        make_table(page, "machen\tV;NFIN")
        page.locator("#table-copy").click()
        expect(page.locator("#toast")).to_have_text("Copied.")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.splitlines()[1].split("\t")[:3] == ["machen", "machen", "V;NFIN"]


def test_a_long_column_is_sent_in_several_requests(page: Page) -> None:
    batches: list[Request] = []
    page.on("request", lambda sent: batches.append(sent) if "batch" in sent.url else None)
    show_tab(page, "Many words")
    make_table(page, "\n".join(f"mach{number}en\tV;NFIN" for number in range(150)))
    expect(page.locator("#table-result tbody tr")).to_have_count(150)
    assert [len(cast(Any, sent.post_data_json)["rows"]) for sent in batches] == [60, 60, 30]


def test_mark_a_form_wrong_and_export_the_correction(page: Page) -> None:
    inflect(page, "machen", PAST)
    page.get_by_role("button", name="Wrong?").click()
    page.get_by_label("Wrong? Type the right form").fill("mächte")
    page.keyboard.press("Enter")
    expect(page.locator("#form")).to_contain_text("mächte")
    expect(page.get_by_role("tab", name="Corrections 1")).to_be_visible()
    page.get_by_role("button", name="All forms").click()
    corrected = page.locator("button.cell.corrected")
    expect(corrected).to_contain_text("mächte")
    page.locator("button.cell", has_text="machtest").click()
    page.get_by_label("Wrong? Type the right form").fill("")
    page.keyboard.press("Enter")
    expect(page.locator("dialog#cell [role=alert]")).to_contain_text("empty")
    page.get_by_label("Wrong? Type the right form").fill("macht\u0323est")
    page.keyboard.press("Enter")
    expect(corrected).to_have_count(2)
    page.reload()
    show_tab(page, "Corrections")
    with page.expect_download() as found:
        page.get_by_role("button", name="Download as TSV").click()
    assert found.value.suggested_filename == "german-corrections.tsv"
    exported = f"machen\tmächte\t{PAST}\nmachen\tmacht\u0323est\tV;IND;PST;2;SG\n"
    assert found.value.path().read_text(encoding="utf-8") == exported
    page.get_by_role("button", name=f"Remove the correction of machen, {PAST}").click()
    expect(page.locator("#corrections-list tbody tr")).to_have_count(1)


def test_right_to_left_words_keep_direction_and_marks(page: Page) -> None:
    page.get_by_label("Model", exact=True).select_option("hebrew")
    expect(page.get_by_role("button", name="DEF definite", exact=True)).to_be_visible()
    lemma = "שׁוּק"
    inflect(page, lemma, "N;PL;DEF")
    expect(page.locator("#form bdi")).to_have_text(f"ה{lemma}ים")
    assert page.locator("#form bdi").evaluate("word => getComputedStyle(word).direction") == "rtl"
    page.get_by_role("button", name="Show the steps").click()
    letters = page.locator(".lemma .letter")
    expect(letters).to_have_count(len(lemma) + 1)
    expect(letters.nth(1)).to_have_text("◌\u05c1")
    places = letters.evaluate_all("letters => letters.map(letter => letter.getBoundingClientRect().x)")
    assert places == sorted(set(places), reverse=True)


def test_tabs_work_by_keyboard_and_address(page: Page) -> None:
    page.get_by_role("tab", name="One word").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("tab", name="Paradigm")).to_be_focused()
    expect(page.locator("#paradigm")).to_be_visible()
    expect(page.locator("#word")).to_be_hidden()
    assert "#paradigm" in page.url
    page.go_back()
    expect(page.locator("#word")).to_be_visible()
    page.get_by_role("link", name="Skip to the content").press("Enter")
    expect(page.locator("#word")).to_be_visible()


def test_a_single_form_is_shown_without_others(page: Page) -> None:
    alter(page, "**/api/nbest", lambda answer: {"answers": answer["answers"][:1]})
    inflect(page, "machen", PAST)
    expect(page.locator("#form")).to_have_text("machte")
    expect(page.locator("#word-result h3")).to_have_count(0)
    expect(page.locator("#word-result")).not_to_contain_text("null")


def test_endless_steps_are_explained(page: Page) -> None:
    alter(page, "**/api/trace", lambda _: {"form": "machen"})
    inflect(page, "machen", PAST)
    page.get_by_role("button", name="Show the steps").click()
    expect(page.locator("#trace")).to_contain_text("These steps do not end")
    page.unroute("**/api/trace")
    page.get_by_label("Model whose steps are shown").select_option("hacm-naive-1")
    expect(page.locator(".gate")).to_be_visible()
    expect(page.locator("#trace")).not_to_contain_text("null")


def test_a_busy_server_is_asked_again_and_a_stopped_one_named(browser: Browser, address: str) -> None:
    busy = {"error": "64 requests are waiting already; try again in a moment", "code": "busy", "field": None}
    refused: list[str] = []

    def refuse(route: Route) -> None:
        refused.append(route.request.url)
        route.fulfill(status=503, json=busy, headers={"retry-after": "0"})

    with opened(browser, f"{address}#word") as page:  # not the fixture: browsers log every 503 as an error
        page.route("**/api/nbest", refuse, times=2)
        inflect(page, "machen", PAST)
        expect(page.locator("#form")).to_have_text("machte")
        assert len(refused) == 2
        page.route("**/api/nbest", refuse)
        inflect(page, "sagen", PAST)
        expect(page.locator("#word-message")).to_contain_text("try again in a moment")
        page.route("**/api/nbest", lambda route: route.abort())
        inflect(page, "fragen", PAST)
        expect(page.locator("#word-message")).to_contain_text("Is reinflect serve still running?")


def test_the_page_fits_a_phone_and_every_field_and_button_has_a_name(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    inflect(page, "machen", PAST)
    page.get_by_role("button", name="Show the steps").click()
    expect(page.locator(".stage")).to_be_visible()
    for tab in ("Paradigm", "Many words", "Corrections", "One word"):
        show_tab(page, tab)
        assert page.evaluate(FITS), tab
    page.evaluate("for (const panel of document.querySelectorAll('[role=tabpanel]')) panel.hidden = false")
    nameless = page.evaluate(
        "[...document.querySelectorAll('button, input, select, textarea')].filter(field => !field.labels?.length"
        " && !field.getAttribute('aria-label') && !field.textContent.trim()).map(field => field.outerHTML)"
    )
    assert nameless == []


def test_about_is_a_panel_of_facts(browser: Browser) -> None:
    model = tiny_models.inflector()
    with running({"verbs": model}) as server, opened(browser, server.address) as page:
        page.get_by_role("button", name="About this model").click()
        panel = page.locator("dialog#about")
        expect(panel.locator(".facts")).to_contain_text("expected accuracy")
        expect(panel.locator(".members li")).to_have_count(len(model.members))
        for words in ("Learnt from", "to be right to the character", "It knows", "Strategy of the vote"):
            expect(panel).to_contain_text(words)
        assert model.training
        expect(panel).to_contain_text(f"Made on {model.training.date} by reinflect")
        expect(panel.locator("pre")).to_have_count(0)


def test_a_dictionary_offers_its_lemmas_and_marks(browser: Browser) -> None:
    cells = {"wehēn": {"V;PST": ("wēhte",)}, "wagen": {"V;PST": ("wagte",)}}
    dictionary = Dictionary.of(cells, ("V;PST", "N;PL"), marks="\u0304")
    inflector = tiny_models.inflector()
    model = replace(inflector, members=inflector.voters[:1], choices={}, strategy="vote", dictionary=dictionary)
    with running({"verbs": model}) as server, opened(browser, server.address) as page:
        expect(page.locator("#paradigm-lemma")).to_be_focused()
        page.locator("#paradigm-lemma").press_sequentially("weh")
        expect(page.locator("#known-lemmas option")).to_have_count(1)
        page.locator("#paradigm-lemma").fill("wehen")
        page.locator("#paradigm-lemma").press("Enter")
        expect(page.locator("#paradigm-tables")).to_contain_text("wehte")
        page.get_by_label("Marks").check()
        expect(page.locator("#paradigm-tables")).to_contain_text("wēhte")


def test_a_model_whose_file_has_changed_can_be_loaded_again(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "verbs.reinflect"
    tiny_models.inflector().save(path)
    with running({"verbs": Inflector.load(path)}) as server, opened(browser, server.address) as page:
        expect(page.locator("#paradigm-lemma")).to_be_focused()
        expect(page.locator("#file-message")).to_be_hidden()
        path.write_bytes(b"another file")
        page.reload()
        expect(page.locator("#file-message")).to_contain_text("has changed since it was loaded")
        page.locator("#load-again").click()
        expect(page.locator("#page-message")).to_contain_text("the model stays as it was loaded")
        tiny_models.inflector().save(path)
        page.locator("#load-again").click()
        expect(page.locator("#file-message")).to_be_hidden()
        expect(page.locator("#page-message")).to_be_hidden()


def test_the_page_opens_on_an_example_with_headings_in_words(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        expect(page.locator("#paradigm-title h2")).to_have_text("sehen")
        summary = "An example of this model, with 14 forms, 1 attested."
        expect(page.locator("#paradigm-summary")).to_contain_text(summary)
        assert page.url == f"{address}#paradigm?lemma=sehen&model=german"
        captions = ["Indicative, present tense", "Indicative, past tense", "Other forms"]
        expect(page.locator("#paradigm-tables caption")).to_have_text(captions)
        expect(page.locator("thead th").filter(visible=True)).to_have_text(["Singular", "Plural"] * 2)
        attested = page.locator("button.cell.attested")
        expect(attested).to_have_accessible_name("sah, indicative, past tense, first person, singular, attested")
        expect(attested.locator("svg.attested")).to_be_visible()
        least = page.locator("button.cell.least")
        assert least.evaluate_all(SHARES) == [min(page.locator("button.cell:not(.attested)").evaluate_all(SHARES))]
        page.locator("#least-sure").click()
        expect(least).to_be_focused()
        page.locator("#paradigm-rules").click()
        rules = page.locator(".rule")
        expect(rules).to_have_count(14)
        expect(attested.locator(".rule")).to_have_text("rules: same")
        expect(least.locator(".rule")).to_have_text("rules: none")
        page.fill("#paradigm-lemma", "stehen")
        page.keyboard.press("Enter")
        expect(page.locator(".rule.differs")).to_have_text("rules: stah")
        page.locator("#paradigm-rules").click()
        expect(rules).to_have_count(0)
        page.get_by_label("Model", exact=True).select_option("hebrew")
        expect(page.locator(".invitation")).to_contain_text("Type a word")
        expect(page.locator("#paradigm-rules")).to_be_hidden()


def test_confirm_a_form_and_take_another_with_one_key_or_click(page: Page) -> None:
    inflect(page, "machen", PAST)
    page.get_by_role("button", name="Right").click()
    expect(page.locator("#word-result .mark")).to_have_text("confirmed")
    page.get_by_role("button", name="All forms").click()
    confirmed, corrected = page.locator("button.cell.confirmed"), page.locator("button.cell.corrected")
    expect(confirmed).to_have_count(1)
    page.locator("button.cell").first.focus()
    page.keyboard.press("c")
    expect(confirmed).to_have_count(2)
    expect(page.locator("button.cell").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("c")
    page.keyboard.press("c")
    expect(confirmed).to_have_count(2)
    page.keyboard.press("Enter")
    expect(page.locator("dialog#cell .other").first).to_contain_text("gemacht")
    page.keyboard.press("1")
    expect(corrected).to_contain_text("gemacht")
    expect(corrected).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.locator("dialog#cell .other", has_text="mach").nth(1).click()
    expect(corrected).to_have_count(2)
    expect(page.locator("#paradigm-summary")).to_contain_text("2 confirmed, 2 corrected")
    show_tab(page, "Corrections")
    expect(page.locator("#corrections-list")).to_contain_text("confirmed")
    forms = {PAST: "machte", "V;IND;PRS;1;SG": "mache", "V;IND;PRS;2;SG": "gemacht", "V;IND;PRS;2;PL": "mach"}
    lines = [f"machen\t{form}\t{features}" for features, form in forms.items()]
    assert downloaded(page, "Download as TSV").decode().splitlines() == lines


def test_a_label_that_is_spelled_as_a_bundle_leaves_no_cell_without_a_form(browser: Browser) -> None:
    model = cast(Inflector, MadeUp(VERBS, cut="en", labels=Labels(((PAST, "V;NFIN"),)), attested=german().attested))
    with running({"german": model}) as server, opened(browser, server.address) as page:
        page.goto(f"{server.address}#paradigm?lemma=machen&model=german")
        expect(page.locator("#paradigm-summary")).to_contain_text("14 forms.")
        expect(page.locator("button.cell")).to_have_count(14)
        page.locator("#paradigm-rules").click()
        expect(page.locator(".rule")).to_have_count(14)


def test_a_link_opens_a_word_or_a_paradigm(browser: Browser, address: str) -> None:
    hebrew = f"{address}#word?lemma=סוס&features=N;PL;DEF&model=hebrew"
    with opened(browser, hebrew, permissions=CLIPBOARD) as page:
        expect(page.locator("#form")).to_have_text("הסוסים")
        page.get_by_label("Model", exact=True).select_option("german")
        inflect(page, "machen", PAST)
        expect(page.locator("#form")).to_have_text("machte")
        page.get_by_role("button", name="Copy link").click()
        expect(page.locator("#toast")).to_have_text("Copied.")
        link = page.evaluate("navigator.clipboard.readText()")
        assert link == page.url == f"{address}#word?lemma=machen&features={PAST}&model=german"
        page.get_by_role("button", name="All forms").click()
        expect(page.locator("#paradigm-title h2")).to_have_text("machen")
        assert page.url == f"{address}#paradigm?lemma=machen&model=german"
        page.goto(f"{address}#paradigm?lemma=%3Cimg src=x%3E&model=german")
        expect(page.locator("#paradigm-title h2")).to_have_text("<img src=x>")
        assert page.locator("img[src=x]").count() == 0
        page.go_back()
        expect(page.locator("#paradigm-title h2")).to_have_text("machen")
        page.goto(f"{address}#word?lemma=x&features=V&model=klingon")
        expect(page.locator("#page-message")).to_have_text("There is no model klingon here.")


def test_many_words_take_lemmas_alone_and_wide_sheets(page: Page) -> None:
    show_tab(page, "Many words")
    make_table(page, "machen\nsagen\n")
    expect(page.locator("#table-result tbody tr")).to_have_count(28)
    heading = "indicative, past tense, third person, singular"
    first = f"Infinitive\tGloss\t{heading}\tSG;V;IND;PST;1\tparticiple\tparticiple"
    make_table(page, f"{first}\nsagen\tsay\t-\t\tsagender\tx\nsagen\tsaw\t\tsaw\n")
    expect(page.locator("#table-message")).to_contain_text("2 given, 4 predicted. Kept as they are: Gloss, participle.")
    expect(page.locator("#table-result .cell.attested")).to_contain_text(["sagender", "saw"])
    assert downloaded(page, "Download TSV").decode().splitlines() == [
        first,
        "sagen\tsay\tsagte\tsagte\tsagender\tx",
        "sagen\tsaw\tsagte\tsaw\tsagend\t",
    ]
    page.get_by_label("one form per row").check()
    make_table(page, "lemma\tform\tfeatures\tconfidence\nsagen\tx\tV;NFIN\t0.5\n")
    expect(page.locator("#table-result tbody tr")).to_have_count(1)
    expect(page.locator("#table-result .cell")).to_contain_text("sagen")


CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")


def report() -> str:
    return model_page("verbs", tiny_models.inflector(), [], [Item("sagen", Bundle("V;PST"), "sagte")])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_enough_contrast(browser: Browser, address: str, scheme: Literal["light", "dark"]) -> None:
    seen = 0

    def check(page: Page) -> None:
        nonlocal seen
        number, poor = page.evaluate(CONTRAST)
        assert poor == []
        seen += number

    with opened(browser, address, color_scheme=scheme, reduced_motion="reduce") as page:
        page.locator("#paradigm-rules").click()
        page.locator("button.cell").nth(0).press("c")
        page.locator("button.cell").nth(1).click()
        expect(page.locator("dialog#cell .other").first).to_be_visible()
        check(page)
        page.keyboard.press("1")
        expect(page.locator("button.cell.corrected")).to_be_visible()
        expect(page.locator("button.cell.least")).to_be_visible()
        check(page)
        page.goto(f"{address}#word?lemma=mañen&features=V;IND;PTS;3;SG&model=german")
        expect(page.locator("#word-message")).to_be_visible()
        page.get_by_role("button", name="Show the steps").click()
        page.locator(".stage").press("End")
        page.locator(".steps summary").click()
        check(page)
        for tab in ("Corrections", "Many words"):
            show_tab(page, tab)
            check(page)
        page.get_by_role("button", name="Make the table").click()
        expect(page.locator("#table-message")).to_be_visible()
        page.get_by_role("button", name="About this model").click()
        check(page)
        plain = page.context.new_page()  # the policy of the server's page would block the styles
        plain.set_content(report())
        check(plain)
    assert seen > 250


def test_a_phone_shows_that_tables_scroll_and_wraps_long_lemmas(browser: Browser, address: str) -> None:
    long = f"{address}#paradigm?lemma={'Donaudampfschifffahrt' * 8}&model=german"
    with opened(browser, long, viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True) as page:
        expect(page.locator("#paradigm-link")).to_be_visible()
        assert page.evaluate(FITS)
        page.locator("button.cell").first.click()
        expect(page.locator("dialog#cell .other").first).to_be_visible()
        assert page.evaluate("document.querySelector('dialog#cell').scrollWidth <= innerWidth")
        page.goto(f"{address}#table")
        page.get_by_label("one lemma per row").check()
        make_table(page, "machen")
        expect(page.locator("#table-result.more")).to_be_visible()
        hint = page.locator("#table-result").evaluate("box => getComputedStyle(box, '::before').content")
        assert hint == '"Scroll sideways to see all columns"'
        assert page.evaluate(FITS)
        printed = page.context.new_page()
        printed.set_content(report())
        expect(printed.locator("body")).to_have_css("max-width", "1088px")  # the style sheet counts
        assert printed.evaluate(FITS)
