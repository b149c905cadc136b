import { count } from '../../format/figures.ts';
import { Button } from '../controls/button.tsx';
import './show-more.css';

/** The end of a partly shown list; nothing if all of it is shown. */
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
    <div className="row show-more">
      <span className="soft">
        Showing {count(shown)} of {count(of)}
      </span>
      <Button onClick={onMore}>Show more</Button>
    </div>
  );
