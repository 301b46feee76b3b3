# SPDX-License-Identifier: BSD-3-Clause
# Sphinx makes the man pages and the HTML from what packaging/docs/assemble.py has gathered (make docs).
import json
import os
import sys

sys.path.insert(0, os.environ["LUCID_DOCS_TOOLS"])

with open(os.environ["LUCID_DOCS_SOURCE"] + "/pages.json", encoding="utf-8") as file:
    gathered = json.load(file)

project = "Lucid"
author = "The Lucid authors"
copyright = "2026, The Lucid authors"
version = release = gathered["version"]

extensions = ["myst_parser", "man_tables"]
myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
suppress_warnings = ["myst.header"]  # a page may leave out a level of headings
root_doc = "index"
nitpicky = True
# The same text on the page and in the manual; nothing is made prettier than it was written.
smartquotes = False
highlight_language = "none"

man_pages = [(page, name, summary, [author], section) for page, name, summary, section in gathered["pages"]]
man_make_section_directory = True
man_show_urls = False

html_theme = "alabaster"
html_theme_options = {"description": "Where the messages of an MPI program go", "page_width": "70em", "fixed_sidebar": True}
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
