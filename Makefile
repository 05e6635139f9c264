# Thin: every target sets up what is missing, then calls CMake through its presets or a script in tools/.
# `make` without a target lists the targets. JOBS=n limits the number of compilers that run at once.
SHELL := /bin/bash
ifdef JOBS
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
endif

.PHONY: help setup build uninstall demo package dist test test-rest test-all test-long clean

help:
	@echo "make demo       build, then a ping-pong and 3-D heat conduction, with Sennit and with MPI"
	@echo "make test       the short tests: about 10 minutes on 2 cores, of these 4 to build"
	@echo "make test-all   these and the rest of what CI runs, under two sanitizers too: about half an hour"
	@echo "make test-long  the tests that are too long for CI: two to three hours"
	@echo "make build      library, programs and tests: build/bin, build/lib, build/include"
	@echo "make uninstall  remove what cmake --install build/release has installed"
	@echo "make package    Debian packages in build/packages"
	@echo "make dist       release tarball and its checksum in build/dist"
	@echo "make setup      install the Debian packages that the above need (each target first does that itself)"
	@echo "make clean      remove everything that was built"

setup:
	@tools/setup

build:
	@tools/setup build
	@tools/build release

uninstall:
	@cmake -DTREE=build/release -P cmake/SennitUninstall.cmake

demo:
	@tools/setup demo
	@tools/build release sennit_demo
	@tools/demo

package:
	@tools/setup package
	@tools/package

dist:
	@tools/dist

test: setup
	@tools/run-tests quick

test-rest: setup
	@tools/run-tests rest

test-all: setup
	@tools/run-tests quick rest

test-long:
	@tools/setup long
	@tools/run-tests long

clean:
	rm -rf build
