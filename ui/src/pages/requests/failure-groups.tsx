import { count, listTime } from '../../format/figures.ts';
import { changeQuery } from '../../router/route.ts';
import type { RequestFilter } from './request-filter.ts';
import { useFailures } from './use-requests.ts';

/** The failed requests by their messages: each leads to its own. */
export const FailureGroups = ({ filter }: { readonly filter: RequestFilter }) => {
  const groups = useFailures(filter) ?? [];
  if (groups.length < 2) return null;
  return (
    <ul className="bare failure-groups" aria-label="Failures by message">
      {groups.map(({ message, requests, lastAt, statuses, models }) => (
        <li key={message}>
          <span className="number">×{count(requests)}</span>
          <button
            type="button"
            className="cut failure-group"
            title={`${message}\n${models.join(', ')}`}
            disabled={message === ''}
            onClick={() => changeQuery({ text: message.slice(message.indexOf(': ') + 1).trim() })}
          >
            <bdi>{message || `Status ${statuses.join(', ')}`}</bdi>
          </button>
          <span className="soft small cut">{models.length > 1 ? `${models.length} models` : models[0]}</span>
          <span className="soft small">last {listTime(lastAt)}</span>
        </li>
      ))}
    </ul>
  );
};
