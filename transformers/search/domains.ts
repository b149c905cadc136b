import type { Tool } from 'junctor/transformer';

export type WebSearchTool = Extract<Tool, { readonly type: 'web-search' }>;

/** Whether a client's lists of domains allow a page. An entry covers subdomains; with a path, what is below it. */
export const isAllowed = (address: string, { allowedDomains, blockedDomains }: WebSearchTool): boolean => {
  const url = new URL(address);
  if (blockedDomains?.some((domain) => covers(domain, url))) return false;
  return allowedDomains === undefined || allowedDomains.length === 0 || allowedDomains.some((one) => covers(one, url));
};

const covers = (entry: string, { hostname, pathname }: URL): boolean => {
  const [host = '', ...path] = entry.replace(/^https?:\/\//i, '').split('/');
  const domain = host.replace(/^\*?\./, '').toLowerCase();
  if (domain === '' || (hostname !== domain && !hostname.endsWith(`.${domain}`))) return false;
  const below = path.join('/').replace(/[/*]$/, '');
  return below === '' || pathname === `/${below}` || pathname.startsWith(`/${below}/`);
};

/** More domains aren't named to the search; its results are filtered all the same. */
const maxNamed = 5;

/** The query with the domains that it is restricted to, in the form that search engines know. */
export const withDomains = (query: string, { allowedDomains = [] }: WebSearchTool, max: number): string => {
  if (allowedDomains.length === 0 || allowedDomains.length > maxNamed) return query;
  const sites = allowedDomains.map((domain) => `site:${domain.replace(/^https?:\/\//i, '')}`).join(' OR ');
  const restricted = `${query} ${allowedDomains.length > 1 ? `(${sites})` : sites}`;
  return restricted.length > max ? query : restricted;
};
