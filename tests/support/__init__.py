"""What tests share: stores and servers to test on, files to read, second implementations to compare with."""
