// Solves a quadratic problem by the functions of the namespace `device`, with kernel values from the input in place of computed ones.

using namespace device;

static double number()
{
    double value = 0;
    if (scanf("%la", &value) != 1) exit(2);
    return value;
}
static vector<double> read(int count)
{
    vector<double> values(count);
    for (double &value : values) value = number();
    return values;
}

int main()
{
    int n = (int)number(), first = (int)number(), capacity = (int)number(), stride = (n + 127) / 128 * 128, splits = 3;
    double kink = number(), tolerance = number();
    long long most_steps = (long long)number();
    vector<double> linear = read(n), lower = read(n), upper = read(n), beta = read(n), f = read(n), kernel = read(n * n);
    Problem p = {linear.data(), lower.data(), upper.data(), beta.data(), f.data(), kink, tolerance, most_steps, n, first};
    State state = {};
    state.best = INFINITY;
    vector<word> keys(2 * n);
    vector<int> lists(2 * SET), sets(2 * SET), seen(n), slots(n, -1), fresh(SET), changed(SET);
    vector<Pack> row_packs(capacity * stride / PACK), tile_packs(SET * SET / PACK);
    real *rows = (real *)row_packs.data(), *tile = (real *)tile_packs.data();
    int blocks = (n + ADVANCERS - 1) / ADVANCERS;
    vector<double> changes(SET), parts(splits * stride), ends(4 * blocks);
    auto finish = [&](int parts_of_sum) {
        launch_blocks(blocks, 1, ADVANCERS, true, [&] { advance(p, &state, parts.data(), stride, parts_of_sum, ends.data()); });
        launch_blocks(1, 1, ADVANCERS, true, [&] { judge(p, &state, ends.data(), blocks); });
    };
    finish(0);
    while (!state.done) {
        launch_blocks((n + 255) / 256, 1, 256, false, [&] { device::rank(p, &state, keys.data()); });
        launch_blocks(2 * GROUPS, 1, CHOOSERS, true, [&] { choose(p, &state, keys.data(), lists.data()); });
        launch_blocks(1, 1, CHOOSERS, true, [&] {
            seat(p, &state, lists.data(), sets.data(), seen.data(), slots.data(), fresh.data(), capacity);
        });
        for (int i = 0; i < state.fresh; ++i)
            for (int j = 0; j < n; ++j) rows[(state.base + i) * stride + j] = (real)kernel[fresh[i] * n + j];
        launch_blocks(SET, 1, 64, false, [&] { gather(&state, sets.data(), slots.data(), rows, stride, tile); });
        launch_blocks(1, 1, SOLVERS, true, [&] {
            exchange(p, &state, sets.data(), slots.data(), tile, changed.data(), changes.data());
        });
        launch_blocks((stride / PACK + 255) / 256, splits, 256, false, [&] {
            sum_rows(&state, changed.data(), changes.data(), rows, stride, parts.data());
        });
        finish(splits);
    }
    print(state.done), print((double)state.steps), print(state.rounds), print((double)state.evaluations);
    for (double value : beta) print(value);
    for (double value : f) print(value);
}
