import { type ReactNode, useState } from 'react';
import { count } from '../../format/figures.ts';
import { Button } from '../controls/button.tsx';

/** Number of characters shown at first, and added at each click. */
const firstLength = 16_000;
const nextLength = 60_000;

/** A text that may be long: its beginning, and the rest on demand. */
export const LongText = ({
  text,
  render,
}: {
  readonly text: string;
  readonly render: (shown: string) => ReactNode;
}) => {
  const [length, setLength] = useState(firstLength);
  return (
    <>
      {render(text.length > length ? text.slice(0, length) : text)}
      {text.length > length && (
        <p className="row">
          <Button onClick={() => setLength(length + nextLength)}>Show more of this text</Button>
          <span className="soft small">
            {count(length)} of {count(text.length)} characters
          </span>
        </p>
      )}
    </>
  );
};
