import { cloudAt } from '../../model/clouds.ts';
import type { Diagnostics } from '../diagnostics.ts';

/** Ends of paths that belong to APIs without a wire format here, and what they are for. */
const unspoken: readonly (readonly [end: string, what: string])[] = [
  ['/api/chat', "a server's own chat API"],
  ['/api/generate', "a server's own completion API"],
  ['/api/v1/chat', "a server's own chat API"],
  ['/completions', 'plain completions'],
  ['/complete', 'plain completions'],
  ['/infill', 'plain completions'],
  ['/embeddings', 'embeddings'],
  ['/images/generations', 'images'],
  ['/audio/transcriptions', 'speech'],
  ['/converse', "a cloud's own API"],
  ['/converse-stream', "a cloud's own API"],
  ['/invoke', "a cloud's own API"],
  [':predict', "a cloud's own API"],
  [':rawpredict', "a cloud's own API"],
];

/** The parameter without which a path with this segment isn't served. */
const versioned = { segment: '/deployments/', parameter: 'api-version' } as const;

/**
 * Warns of a base URL that can't lead to an endpoint which any format calls: with the address of another API, or without a
 * parameter that its path requires. `query`: the parameters that calls have in addition.
 */
export const checkAddress = (
  url: URL,
  query: Readonly<Record<string, string>>,
  at: string,
  findings: Diagnostics,
): void => {
  const { pathname, searchParams } = url;
  const path = pathname.toLowerCase().replace(/\/$/, '');
  const found = path.endsWith('/chat/completions') ? undefined : unspoken.find(([end]) => path.endsWith(end));
  if (found) {
    const [end, what] = found;
    findings.warn(at, `ends in ${end}, which is for ${what} and in no format that can be spoken; name the API's root`);
  }
  if (path.includes(versioned.segment) && !searchParams.has(versioned.parameter) && !(versioned.parameter in query)) {
    findings.warn(
      at,
      `names a deployment without the parameter ${versioned.parameter}, for example ?api-version=2024-10-21`,
    );
  }
  checkLocation(url, at, findings);
};

/** A project of Vertex AI is served by the host of its location alone. */
const checkLocation = (url: URL, at: string, findings: Diagnostics): void => {
  const segments = url.pathname.split('/');
  const cloud = cloudAt(url);
  if (cloud?.name !== 'vertex' || !segments.includes('projects')) return;
  const location = segments[segments.indexOf('locations') + 1];
  const { region = 'global' } = cloud;
  if (!segments.includes('locations') || !location) {
    findings.warn(at, 'names a project without its location, as /v1/projects/{project}/locations/{location} does');
  } else if (location !== region) {
    findings.warn(at, `names the location ${location}, but the host serves ${region}`);
  }
};
