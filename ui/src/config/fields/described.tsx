/** A schema's description. Text in backticks is shown as code. */
export const Described = ({ text }: { readonly text: string }) =>
  text.split('`').map((piece, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text that doesn't change
    index % 2 === 1 ? <code key={index}>{piece}</code> : piece,
  );
