#!/usr/bin/env python3
"""Draws the plots of the study: python3 apps/transpose/study/plots.py [FOLDER]. Exit status 77 without matplotlib."""
import study

if __name__ == "__main__":
    study.kernels.draw(study.KERNEL)
