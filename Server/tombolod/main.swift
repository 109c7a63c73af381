print("tombolod")
