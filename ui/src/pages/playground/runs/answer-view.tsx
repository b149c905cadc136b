import { Empty } from '../../../parts/layout/notice.tsx';
import { TurnParts } from '../../../parts/text/turn-parts.tsx';
import type { Run } from './run.ts';

/** The response, rendered. */
export const AnswerView = ({ run: { answer, phase } }: { readonly run: Run }) => {
  if (answer.parts.length > 0) return <TurnParts parts={answer.parts} />;
  const isOpen = phase === 'waiting' || phase === 'receiving';
  if (phase === 'failed') return <Empty title="No content: the request failed" />;
  return <Empty title={isOpen ? 'No content yet' : 'Empty response'} />;
};
