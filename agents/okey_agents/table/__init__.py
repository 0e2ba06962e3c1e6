"""Tables where people play: in the browser and in the terminal."""
