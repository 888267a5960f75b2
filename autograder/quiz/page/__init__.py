"""The quiz as one web page that asks for nothing: no server, no font, no script but its own."""
