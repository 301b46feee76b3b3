# SPDX-License-Identifier: BSD-3-Clause
"""The report as one self-contained HTML page: views.py works it out, parts.py and page.py write it, page.js lets choose."""
