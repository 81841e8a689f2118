"""CEL, the complex event logic of `cel-cea`: its grammar, its syntax tree and its lowering."""
