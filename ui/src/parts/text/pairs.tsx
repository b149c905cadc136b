import './pairs.css';

type Pair = readonly [name: string, value: string, note?: string | undefined];

/** Names and their values, with what is to be said of them: headers, fields. */
export const Pairs = ({ pairs }: { readonly pairs: readonly Pair[] }) => (
  <dl className="pairs">
    {pairs.map(([name, value, note]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>
          {value}
          {note !== undefined && <small>{note}</small>}
        </dd>
      </div>
    ))}
  </dl>
);
