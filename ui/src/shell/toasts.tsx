import { classNames } from '../parts/class-names.ts';
import { Button, Icon, IconButton } from '../parts/controls/button.tsx';
import { useStore } from '../state/store.ts';
import { dismissToast, toasts } from '../state/toast.ts';
import './toasts.css';

/** All visible messages. The region always exists: screen readers announce only changes to a known region. */
export const Toasts = () => (
  <section className="toasts" aria-live="polite" aria-label="Messages">
    {useStore(toasts).map(({ id, text, kind, action }) => (
      <div key={id} className={classNames('toast', `toast-${kind}`)}>
        <Icon name={kind} />
        <p>{text}</p>
        {action && (
          <Button
            onClick={() => {
              dismissToast(id);
              action.run();
            }}
          >
            {action.label}
          </Button>
        )}
        <IconButton icon="close" label="Dismiss" onClick={() => dismissToast(id)} />
      </div>
    ))}
  </section>
);
