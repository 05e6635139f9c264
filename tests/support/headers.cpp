// An empty program, compiled only for the precompiled headers of GoogleTest, which all test
// programs share.
int main() {}
