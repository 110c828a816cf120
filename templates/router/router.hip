/* templates/router/router.hip: from router logits to rows grouped by expert, as moe_gemm wants them.
 *
 *   router_select    softmax and top-k of each token; counts slots per expert and unit
 *   router_scan      for each expert: slots of all units before a unit
 *   router_permute   rows: expert by expert, within an expert by token
 *
 * A unit is one wave with a range of consecutive tokens; units never wait for one another, and each counts
 * its slots in order, so rows depend on the logits alone.
 *
 * Slots of a token go by falling logit, equal ones by rising expert.  A logit that is NaN or -inf selects
 * nobody: slots that find no expert count as expert number `experts` and come last.  One that is +inf shares
 * the whole weight with its equals.                                            SPDX-License-Identifier: MIT
 */
#include "common/wave.h"

// moesaic:config
struct Config {
    static constexpr int normalise = 0; // 1: the selected weights of a token sum to 1
    static constexpr int lanes = 64;    // that share a token
    static constexpr int per_lane = 16; // experts of a lane: at most lanes * per_lane in all
    static constexpr int waves = 4;     // in a workgroup
    static constexpr int units = 1216;  // waves that share the tokens
};
// moesaic:end

struct router_args {
    const float *logits; /* [tokens][experts] */
    int *offsets;        /* out: [experts + 1] */
    int *token_index; /* out: [tokens * top_k]; past offsets[experts]: of slots without an expert */
    float *routing_weight; /* out: [tokens * top_k] by row */
    int *row_of_slot;      /* out: [tokens * top_k], -1: no expert */
    int *workspace;        /* as Workspace divides it */
    long ld_logits, tokens;
    int experts, top_k;
};

constexpr int capacity = Config::lanes * Config::per_lane;
constexpr int tokens_at_once = wave_lanes / Config::lanes;
constexpr float minus_infinity = -__builtin_inff();

struct Workspace {
    int *before;         /* [experts + 1][units]: slots of the unit, then of all units before it */
    int *total;          /* [experts + 1] */
    int *expert_of_slot; /* [tokens * top_k] */
    float *weight_of_slot;

    __device__ explicit Workspace(const router_args &args)
    {
        const int buckets = args.experts + 1;
        before = args.workspace;
        total = before + buckets * Config::units;
        expert_of_slot = total + buckets;
        weight_of_slot = reinterpret_cast<float *>(expert_of_slot + args.tokens * args.top_k);
    }
};

__device__ inline int unit_id()
{
    return static_cast<int>(blockIdx.x) * Config::waves + wave_id();
}
__device__ inline long first_token(long tokens, int unit)
{
    return tokens * unit / Config::units;
}

/* A logit and its expert; the better one is the larger, among equals the one of the lower expert. */
struct Candidate {
    float logit;
    int expert;

    __device__ void improve(Candidate other)
    {
        const bool better = other.logit > logit || (other.logit == logit && other.expert < expert);
        logit = better ? other.logit : logit;
        expert = better ? other.expert : expert;
    }
};

/* The logits of one token, spread over its lanes. */
struct TokenLogits {
    float logit[Config::per_lane];

    __device__ static int expert(int i) { return i * Config::lanes + lane_id() % Config::lanes; }

    __device__ void load(const float *row, int experts)
    {
        for (int i = 0; i < Config::per_lane; i++) {
            const float value = row && expert(i) < experts ? row[expert(i)] : minus_infinity;
            logit[i] = value == value ? value : minus_infinity;
        }
    }
    __device__ Candidate best() const
    {
        Candidate best = {minus_infinity, capacity};
        for (int i = 0; i < Config::per_lane; i++)
            best.improve({logit[i], expert(i)});
        for (int d = Config::lanes / 2; d > 0; d /= 2)
            best.improve({__shfl_xor(best.logit, d), __shfl_xor(best.expert, d)});
        return best;
    }
    __device__ void remove(int removed)
    {
        for (int i = 0; i < Config::per_lane; i++)
            logit[i] = expert(i) == removed ? minus_infinity : logit[i];
    }
};

__device__ inline float exp_below(float logit, float largest)
{
    return logit == largest ? 1.0f : expf(logit - largest);
}

__device__ inline float sum_of_token(float value)
{
    for (int d = Config::lanes / 2; d > 0; d /= 2)
        value += __shfl_xor(value, d);
    return value;
}

__device__ inline float sum_of_exponentials(const TokenLogits &token, float largest)
{
    float sum = 0;
    for (int i = 0; i < Config::per_lane; i++)
        sum += token.logit[i] > minus_infinity ? exp_below(token.logit[i], largest) : 0.0f;
    return sum_of_token(sum);
}

/* Selects the experts of one token: its lane i gets slot i. */
__device__ inline Candidate select(TokenLogits &token, int top_k, float *weight)
{
    Candidate mine = {minus_infinity, capacity};
    const float largest = token.best().logit;
    const float all = sum_of_exponentials(token, largest);
    for (int slot = 0; slot < top_k; slot++) {
        const Candidate best = token.best();
        token.remove(best.expert);
        if (lane_id() % Config::lanes == slot)
            mine = best;
    }
    const bool found = mine.logit > minus_infinity;
    const float share = found ? exp_below(mine.logit, largest) : 0.0f;
    const float whole = Config::normalise ? sum_of_token(share) : all;
    *weight = found ? share / whole : 0.0f;
    return mine;
}

extern "C" __global__ __launch_bounds__(64 * Config::waves) void router_select(router_args args)
{
    __shared__ int counts[Config::waves][capacity + 1];
    const Workspace to(args);
    const int unit = unit_id();
    int *count = counts[wave_id()];
    for (int e = lane_id(); e <= args.experts; e += wave_lanes)
        count[e] = 0;
    lds_wave_barrier();
    const long end = first_token(args.tokens, unit + 1);
    for (long first = first_token(args.tokens, unit); first < end; first += tokens_at_once) {
        const long token = first + lane_id() / Config::lanes;
        const int slot = lane_id() % Config::lanes;
        TokenLogits logits;
        logits.load(token < end ? args.logits + token * args.ld_logits : nullptr, args.experts);
        float weight;
        const Candidate chosen = select(logits, args.top_k, &weight);
        if (token >= end || slot >= args.top_k)
            continue;
        const int expert = chosen.logit > minus_infinity ? chosen.expert : args.experts;
        to.expert_of_slot[token * args.top_k + slot] = expert;
        to.weight_of_slot[token * args.top_k + slot] = weight;
        atomicAdd(&count[expert], 1);
    }
    lds_wave_barrier();
    for (int e = lane_id(); e <= args.experts; e += wave_lanes)
        to.before[static_cast<long>(e) * Config::units + unit] = count[e];
}

extern "C" __global__ __launch_bounds__(256) void router_scan(router_args args)
{
    const Workspace w(args);
    const int expert = static_cast<int>(blockIdx.x) * 4 + wave_id();
    if (expert > args.experts)
        return;
    int *before = w.before + static_cast<long>(expert) * Config::units;
    int sum = 0;
    for (int first = 0; first < Config::units; first += wave_lanes) {
        const int unit = first + lane_id();
        const int slots = unit < Config::units ? before[unit] : 0;
        const int through = sum_through(slots);
        if (unit < Config::units)
            before[unit] = sum + through - slots;
        sum += last_lane(through);
    }
    if (lane_id() == 0)
        w.total[expert] = sum;
}

/* next[e] = the row of the unit's first slot of expert e.  Unit 0 writes the offsets. */
__device__ inline void first_rows(const router_args &args, const Workspace &w, int unit, int *next)
{
    int sum = 0;
    for (int first = 0; first <= args.experts; first += wave_lanes) {
        const int expert = first + lane_id();
        const int slots = expert <= args.experts ? w.total[expert] : 0;
        const int through = sum_through(slots);
        const int offset = sum + through - slots;
        if (expert <= args.experts) {
            next[expert] = offset + w.before[static_cast<long>(expert) * Config::units + unit];
            if (unit == 0)
                args.offsets[expert] = offset;
        }
        sum += last_lane(through);
    }
}

/* The lanes that hold the same expert as this one, among the active ones. */
__device__ inline unsigned long lanes_of_same(int expert)
{
    unsigned long same = __ballot(true);
    for (int bit = 1; bit <= capacity; bit *= 2) {
        const bool set = expert & bit;
        const unsigned long with = __ballot(set);
        same &= set ? with : ~with;
    }
    return same;
}

extern "C" __global__ __launch_bounds__(64 * Config::waves) void router_permute(router_args args)
{
    __shared__ int nexts[Config::waves][capacity + 1];
    const Workspace w(args);
    const int unit = unit_id();
    int *next = nexts[wave_id()];
    first_rows(args, w, unit, next);
    lds_wave_barrier();
    const int end = static_cast<int>(first_token(args.tokens, unit + 1)) * args.top_k;
    int slot = static_cast<int>(first_token(args.tokens, unit)) * args.top_k + lane_id();
    for (; slot < end; slot += wave_lanes) {
        const int expert = w.expert_of_slot[slot];
        const unsigned long same = lanes_of_same(expert);
        const int earlier = __popcll(same & ((1ul << lane_id()) - 1));
        const int row = next[expert] + earlier;
        lds_wave_barrier();
        if (earlier == __popcll(same) - 1)
            next[expert] = row + 1;
        lds_wave_barrier();
        args.token_index[row] =
            static_cast<int>(static_cast<unsigned>(slot) / static_cast<unsigned>(args.top_k));
        args.routing_weight[row] = w.weight_of_slot[slot];
        args.row_of_slot[slot] = expert < args.experts ? row : -1;
    }
}
