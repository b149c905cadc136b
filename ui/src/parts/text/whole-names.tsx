import { Fragment } from 'react';

/** Longer names may break anywhere. */
const maxWhole = 16;

/** Names, in which lines break after commas and slashes: browsers break at each hyphen, too. */
export const WholeNames = ({ text }: { readonly text: string }) =>
  text.split(/(?<=[\s,/])/).map((piece, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no identity but their place
    <Fragment key={index}>
      {index > 0 && <wbr />}
      <span className={piece.length <= maxWhole ? 'whole-name' : undefined}>{piece}</span>
    </Fragment>
  ));
