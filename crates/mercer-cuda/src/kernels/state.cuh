// Where the solution of a quadratic problem stands.
struct State {
    // The ends of the gradient in each group: least f + up, greatest f + low.
    double least[2], most[2];
    // The least violation so far.
    double best;
    long long steps, evaluations;
    // Why the solver has ended; 0 while it has not.
    int done;
    int rounds, best_round;
    // Whether the last round took no step, and whether a number is not finite.
    int stalled, broken;
    // Kernel rows that are kept, and those of them that this round adds: `fresh` from `base` on.
    int kept, base, fresh;
    // Variables of the working set that the last round changed.
    int changed;
    // Variables that were chosen for each group from either end.
    int chosen[4];
    int unused;
};
