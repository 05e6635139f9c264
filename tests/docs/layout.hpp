// Prints the layout of structs that several processes share, for layouts_test.py: a line
// `struct NAME BYTES`, then `field NAME OFFSET BYTES` for each field.
#pragma once

#include <cstddef>
#include <cstdio>

#define STRUCT(type) std::printf("struct %s %zu\n", #type, sizeof(type))
#define FIELD(type, field) \
    std::printf("field %s %zu %zu\n", #field, offsetof(type, field), sizeof(type::field))

// Each function has its own source file: the structs of a protocol are private to the file that
// implements the protocol, and that file is included whole.
void print_collective_layouts();
void print_exchange_layouts();
void print_allocation_layouts();
void print_creation_layouts();
void print_node_exchange_layouts();
void print_startup_layouts();
void print_trace_layouts();
