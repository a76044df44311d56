import LarderCLI

Larder.run()
