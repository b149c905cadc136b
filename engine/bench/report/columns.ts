/** Lines of cells as text, each column as wide as its widest cell. */
export const inColumns = (lines: readonly (readonly string[])[], between = '  '): readonly string[] => {
  const widths = (lines[0] ?? []).map((_, at) => Math.max(...lines.map((line) => (line[at] ?? '').length)));
  return lines.map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(between));
};

/** Three significant digits, no exponent. */
export const short = (value: number): string => {
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  return size >= 10 ? value.toFixed(1) : value.toFixed(2);
};
