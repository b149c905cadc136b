import { useId, useState } from 'react';
import { bytes } from '../../format/figures.ts';
import { Button } from '../../parts/controls/button.tsx';
import type { Picture } from './prompt.ts';

/** The largest image, in bytes: most providers reject larger ones. */
const mostBytes = 4 * 1024 * 1024;

/** Picks an image file and previews it. It stays in the page until it is sent. */
export const PictureField = ({
  picture,
  onChange,
}: {
  readonly picture: Picture | undefined;
  readonly onChange: (picture: Picture | undefined) => void;
}) => {
  const id = useId();
  const [error, setError] = useState<string>();
  const take = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    setError(undefined);
    if (file.size > mostBytes) setError(`${file.name} is ${bytes(file.size)}; the limit is ${bytes(mostBytes)}.`);
    else onChange({ name: file.name, mediaType: file.type, size: file.size, base64: await base64Of(file) });
  };
  return (
    <div className="field">
      <label htmlFor={id} className="field-label">
        Image
      </label>
      {picture ? (
        <div className="row">
          <img className="picture" src={`data:${picture.mediaType};base64,${picture.base64}`} alt="" />
          <span className="cut">
            {picture.name} <span className="soft">({bytes(picture.size)})</span>
          </span>
          <Button id={id} look="quiet" icon="close" onClick={() => onChange(undefined)}>
            Remove
          </Button>
        </div>
      ) : (
        <input
          id={id}
          className="control picture-file"
          type="file"
          accept="image/png,image/jpeg,image/webp,image/gif"
          aria-describedby={error && `${id}-error`}
          onChange={(event) => void take(event.target.files?.[0])}
        />
      )}
      {error && (
        <p id={`${id}-error`} className="field-error">
          {error}
        </p>
      )}
    </div>
  );
};

const base64Of = async (file: File): Promise<string> => {
  const all = new Uint8Array(await file.arrayBuffer());
  const pieces: string[] = [];
  // Within the argument limit of a call, and a multiple of three: no padding inside the text.
  for (let at = 0; at < all.length; at += pieceBytes) {
    pieces.push(window.btoa(String.fromCharCode(...all.subarray(at, at + pieceBytes))));
  }
  return pieces.join('');
};

const pieceBytes = 24_576;
