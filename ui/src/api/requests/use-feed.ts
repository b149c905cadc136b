import { useEffect, useRef, useState } from 'react';
import { useStore } from '../../state/store.ts';
import { connection } from '../connection.ts';
import { keyState } from '../key.ts';
import { type FeedEvent, type FeedQuery, type FeedState, followFeed } from './feed.ts';

/** Follows the feed while the component is mounted: one stream per page. */
export const useFeed = (query: FeedQuery, take: (event: FeedEvent) => void): FeedState => {
  const [state, setState] = useState<FeedState>('opening');
  const { revision } = useStore(connection);
  const { key } = useStore(keyState);
  const taker = useRef(take);
  useEffect(() => {
    taker.current = take;
  });
  const queryText = JSON.stringify(query);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new key or connection opens another stream; the text has the query
  useEffect(() => followFeed(query, (event) => taker.current(event), setState), [queryText, revision, key]);
  return state;
};
