import { count } from '../format/count.ts';
import { Button } from './button.tsx';
import './show-more.css';

/** Ends a list of which only the beginning is shown; nothing when that is all of it. */
export const ShowMore = ({
  shown,
  of,
  onMore,
}: {
  readonly shown: number;
  readonly of: number;
  readonly onMore: () => void;
}) =>
  of <= shown ? null : (
    <div className="show-more">
      <span className="soft">
        The first {count(shown)} of {count(of)}
      </span>
      <Button onClick={onMore}>Show more</Button>
    </div>
  );
