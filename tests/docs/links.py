"""Links of Markdown pages, for names_test.py (the clone) and tests/install (the installed pages).

    links_in(path)   (text, target, anchor) of each link to a file; anchor "" where there is none
    fault(path, text, target, anchor)   the error of a link of the page `path`, or None
"""
import functools
import os
import re

LINK = re.compile(r"\[((?:[^\[\]]|\\[\[\]])*)\]\(([^)#\s]*)(?:#([^)\s]*))?\)")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def links_in(path):
    text = re.sub(r"^```.*?^```", "", read(path), flags=re.DOTALL | re.MULTILINE)
    for match in LINK.finditer(text):
        if "://" not in match[2]:
            yield match[1], match[2], match[3] or ""


@functools.cache
def anchors_of(path):
    """The anchors of headings, as GitHub and cmark make them, and of <a id>."""
    text = re.sub(r"^```.*?^```", "", read(path), flags=re.DOTALL | re.MULTILINE)
    found = set(re.findall(r'<a id="([^"]+)">', text))
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", shown.lower()).strip().replace(" ", "-")
        count = sum(1 for one in found if re.fullmatch(rf"{re.escape(slug)}(-\d+)?", one))
        found.add(f"{slug}-{count}" if slug in found else slug)
    return found


def fault(path, text, target, anchor):
    place = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
    if not os.path.exists(place):
        return f"link to {target}"
    if anchor and place.endswith(".md") and anchor not in anchors_of(place):
        return f"link to {target}#{anchor}"
    name = re.fullmatch(r"`(\w+)(?:\(\))?`", text)
    if name and place.endswith(".h") and not re.search(rf"\b{name[1]}\b", read(place)):
        return f"link of {name[1]} to {target}"
    return None
