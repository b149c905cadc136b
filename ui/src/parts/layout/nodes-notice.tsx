import type { AnsweredNodes } from '../../api/requests/requests.ts';
import { count, counted } from '../../format/count.ts';
import { Notice } from './notice.tsx';

/** Says which part of a fleet is missing in what a page shows; nothing if all machines answered. */
export const NodesNotice = ({ machines }: { readonly machines: AnsweredNodes | undefined }) =>
  machines && machines.heard < machines.known ? (
    <Notice kind="warn" title={`${count(machines.heard)} of ${counted(machines.known, 'machine')} answered`}>
      Requests of the others are missing here. They must be able to reach each other by HTTP; see FLEET.address.
    </Notice>
  ) : null;
