/** How long the browser may take to begin with a download, in milliseconds. */
const beginsMs = 10_000;

/** Lets the browser save a text, given in pieces, under this name. */
export const saveText = (name: string, pieces: string[]): void => {
  const url = URL.createObjectURL(new Blob(pieces, { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), beginsMs);
};
