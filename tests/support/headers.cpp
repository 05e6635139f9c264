// A program that does nothing: compiled for the headers of GoogleTest alone, which all test
// programs share.
int main() {}
