import type { ReactNode } from 'react';
import './figures.css';

/** A figure of a headline. */
interface Figure {
  readonly title: string;
  readonly value: ReactNode;
  /** The figure for comparison. */
  readonly note?: ReactNode;
}

/** The few figures that a page is about. */
export const Figures = ({ figures }: { readonly figures: readonly Figure[] }) => (
  <dl className="figures">
    {figures.map(({ title, value, note }) => (
      <div key={title}>
        <dt>{title}</dt>
        <dd className="figure">{value}</dd>
        {note && <dd className="soft small">{note}</dd>}
      </div>
    ))}
  </dl>
);
