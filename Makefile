# SPDX-License-Identifier: BSD-3-Clause
# The front door. CMake and Ninja do the work; the scripts are in tools/.

PREFIX ?= /usr/local
MPI ?=
BUILD ?= build/$(shell tools/codename)
export LUCID_BUILD := $(BUILD)

.DEFAULT_GOAL := help
.PHONY: help packages build demo test soak bench bench-quick docs wheel install uninstall lab-down clean

## make build                    build into build/<name of this system's release>
## make demo                     every system with and without over several virtual nodes: a table and a report
## make test                     every test, sanitizers and fuzz targets included
## make test MPI=trixie|forky    the same in a Debian chroot: Open MPI 5.0, 6.0 (needs root)
## make soak                     random programs with everything on, for an hour (MINUTES=5: less)
## make bench                    the experiments in bench/; make bench-quick: small, in ten minutes
## make docs                     man pages and HTML; make install takes them along
## make wheel                    the command and the libraries as a Python wheel, for pip's MPI libraries
## make install PREFIX=DIR       install (PREFIX is /usr/local by default); make uninstall PREFIX=DIR
## make lab-down                 take down a lab that was left up
## make clean                    remove the builds
##
## build, demo, test, docs and bench install missing packages on Debian and Ubuntu (tools/packages); elsewhere they name them.
## More settings of CMake: make build CMAKE_ARGS="-DLUCID_FORTRAN=OFF"; another MPI: PATH=/opt/mpi/bin:$PATH BUILD=build/mine
help:
	@sed -n 's/^## \{0,1\}//p' Makefile

packages:
	@tools/install-packages build

build: packages
	@tools/build release $(BUILD)

demo:
	@tools/demo

test:
	@tools/test $(MPI)

soak:
	@tools/install-packages build test
	@LUCID_BUILD_TESTS=yes tools/build release $(BUILD)
	@tools/soak $(MINUTES)

bench:
	@tools/install-packages build test bench
	@LUCID_BUILD_TESTS=yes tools/build release $(BUILD)
	@tools/bench

bench-quick:
	@tools/install-packages build test bench
	@LUCID_BUILD_TESTS=yes tools/build release $(BUILD)
	@tools/bench --quick

docs: build
	@tools/install-packages docs
	@cmake --build $(BUILD) --target lucid_docs
	@echo "lucid: man pages and HTML in $(BUILD)/docs"

wheel:
	@tools/wheel

install: build
	@tools/install $(BUILD) $(abspath $(PREFIX))

uninstall:
	@tools/uninstall $(abspath $(PREFIX))

lab-down:
	@lab/lab down

clean:
	@rm -rf build
