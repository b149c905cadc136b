import { browsed } from '../../api/requests/browsed-requests.ts';
import { useRecentRequests } from '../../api/requests/use-recent-requests.ts';
import { requestAddress } from '../../parts/table/request-address.ts';
import { href, navigate, route } from '../../router/route.ts';
import { useShortcut } from '../../shell/dialogs/shortcuts.ts';
import { useStore } from '../../state/store.ts';

/** Links to the list and to the requests before and after this one, with the keys j and k. */
export const Neighbours = ({ id }: { readonly id: string }) => {
  const { title, address, requests: last } = useStore(browsed);
  const recent = useRecentRequests().data?.requests;
  const list = last.some((one) => one.id === id) ? last : (recent ?? []);
  const at = list.findIndex((one) => one.id === id);
  const older = at < 0 ? undefined : list[at + 1];
  const newer = at < 0 ? undefined : list[at - 1];
  useShortcut('j', 'Next request in the list', () => older && navigate(addressOf(older)));
  useShortcut('k', 'Previous request in the list', () => newer && navigate(addressOf(newer)));
  return (
    <nav className="row" aria-label="Requests">
      <a href={address || href('/requests')}>← {title}</a>
      {newer && <a href={addressOf(newer)}>Previous</a>}
      {older && <a href={addressOf(older)}>Next</a>}
    </nav>
  );
};

/** With the tab that is shown now. */
const addressOf = (request: Parameters<typeof requestAddress>[0]): string =>
  requestAddress(request, route.get().query.get('tab'));
