import LarderCLI
