print("tombolo")
