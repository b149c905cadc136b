/** Time limit for the browser to start the download, in milliseconds. */
const beginsMs = 10_000;

/** Downloads a text, given in pieces, as a file. */
export const saveText = (name: string, pieces: (string | Blob)[]): void => {
  const url = URL.createObjectURL(new Blob(pieces, { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), beginsMs);
};
