#!/bin/sh
# A rank of a job of two programs: those with an even number run the first, the others the second. either.sh FIRST SECOND
# Without a number it stops, or all would run the first.
if [ $((${SENNIT_RANK:?} % 2)) -eq 0 ]; then exec "$1"; else exec "$2"; fi
