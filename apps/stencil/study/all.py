#!/usr/bin/env python3
"""The study: measures, draws and writes the page.

    python3 apps/stencil/study/all.py [--realtime] [--bin build/bin] [--out docs/results/zcom/stencil] [--quick]
"""
import study

if __name__ == "__main__":
    study.kernels.run(study.KERNEL, __doc__.split("\n", maxsplit=1)[0])
