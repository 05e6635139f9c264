#!/bin/sh
# Starts a rank of a job of two programs: even ranks run the first, odd ranks the second. either.sh FIRST SECOND. Stops without a
# rank number: otherwise all ranks would run the first.
if [ $((${SENNIT_RANK:?} % 2)) -eq 0 ]; then exec "$1"; else exec "$2"; fi
