/** Shows what is being done: on a terminal in one line that is written over, elsewhere a line for each new thing. */
export const progressTo = (out: NodeJS.WriteStream): ((text: string) => void) => {
  const startedAt = performance.now();
  let before = '';
  return (text) => {
    const seconds = Math.round((performance.now() - startedAt) / 1e3);
    if (out.isTTY) out.write(`\r\u001b[K${text && `${seconds} s  ${text}`}`);
    else {
      const [thing = ''] = text.split(':');
      if (thing !== '' && thing !== before) out.write(`${seconds} s  ${thing}\n`);
      before = thing;
    }
  };
};
