import { Component, type ReactNode } from 'react';
import { connection } from '../api/connection.ts';
import { Button } from '../parts/controls/button.tsx';
import { Notice } from '../parts/layout/notice.tsx';

/** Shows an error instead of a broken page, until the gateway answers again; the rest of the interface keeps working. */
export class PageBoundary extends Component<{ readonly children: ReactNode }, { readonly error: string | undefined }> {
  override state = { error: undefined };
  #unsubscribe: (() => void) | undefined;

  static getDerivedStateFromError(error: unknown): { error: string } {
    return { error: error instanceof Error ? error.message : String(error) };
  }

  override componentDidMount(): void {
    this.#unsubscribe = connection.subscribe(() => {
      // Browsers keep a failed import: only a new page asks for it again.
      if (this.state.error !== undefined && connection.get().up) window.location.reload();
    });
  }

  override componentWillUnmount(): void {
    this.#unsubscribe?.();
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <Notice
        kind="failed"
        title="This page failed to load"
        actions={
          <Button icon="reload" onClick={() => window.location.reload()}>
            Reload
          </Button>
        }
      >
        {/* Usually the interface was rebuilt and its files have new names. */}
        <p>The gateway may have stopped, or the interface was updated while it was open. Drafts are kept.</p>
        <p className="mono small">{error}</p>
      </Notice>
    );
  }
}
