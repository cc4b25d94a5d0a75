"""How finished files get their names: hidden while they are written, complete or absent afterwards."""
