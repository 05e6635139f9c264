#!/usr/bin/env python3
"""Writes the page of the study, or compares it: python3 apps/transpose/study/page.py [--check] [FOLDER]"""
import sys

import study

if __name__ == "__main__":
    sys.exit(study.kernels.page(study.KERNEL))
