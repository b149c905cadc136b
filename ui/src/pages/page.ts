/** The props of a page. */
export interface PageProps {
  /** The parts of the address after the page's own name, decoded. */
  readonly rest: readonly string[];
  /** The address's query. */
  readonly query: URLSearchParams;
}
