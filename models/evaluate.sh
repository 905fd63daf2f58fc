#!/usr/bin/env bash
# Measures the shipped policies: writes the tables, numbers and figures that models/evaluation.md
# quotes into models/figures. One thread; several hours, three of them for `table`.
#
#     models/evaluate.sh [PLACETO_TRAIN] [STEP...]
#
# Steps: mixed reference large wired families starts generalization topologies pareto table equal-time; all
# if none is named. The last needs `placeto` beside placeto-train.
set -euo pipefail
cd "$(dirname "$0")/.."
train=${1:-build/bin/placeto-train}
shift || true
steps=${*:-mixed reference large wired families starts generalization topologies pareto table equal-time}
out=models/figures
mkdir -p "$out"
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

# Published architecture: those that are there.
families=()
for family in cifar10 ptb nmt; do
  [ -f "models/placeto-$family-2gpu.plpo" ] && families+=("models/placeto-$family-2gpu.plpo")
done

for step in $steps; do
  echo "== $step"
  case $step in
    mixed)
      "$train" eval models/default.plpo --sets mixed large --problems 64 --large 8 --baselines \
        --budgets 30 100 300 1000 --long-evaluations 3000 --threads 1 --csv "$out/mixed.csv" \
        --svg "$out/mixed-cdf.svg" --cdf "$out/mixed-cdf.csv" --effort "$out/mixed-effort.svg"
      ;;
    reference)
      # How far the searches that the other tables take for the best known are from longer ones.
      "$train" eval models/default.plpo --sets mixed large --problems 64 --large 8 \
        --budgets 300 1000 --long-searches 5 --long-evaluations 100000 --threads 1 \
        --csv "$out/reference.csv"
      ;;
    large)
      "$train" eval models/default.plpo --sets large --large 24 --budgets 1000 --long-searches 5 \
        --long-evaluations 100000 --annealings --threads 1 --csv "$out/large.csv"
      ;;
    wired)
      "$train" eval models/default.plpo --sets devices-12 devices-16 ring bus tree --problems 32 \
        --budgets 1000 --long-searches 5 --long-evaluations 100000 --annealings --threads 1 \
        --csv "$out/wired.csv"
      ;;
    starts)
      # The published architecture, on merged graphs; with the RNN placer on the policy's own family.
      "$train" starts "${families[@]}" --passes 3 --threads 1 --csv "$out/starts.csv" \
        --sets cifar10-seen cifar10 ptb-seen ptb nmt-seen nmt nmt-slow nmt-fast
      for family in cifar10 ptb nmt; do
        "$train" starts "models/placeto-$family-2gpu.plpo" --passes 3 --sets "$family" --rnn 2500 \
          --threads 1 --csv "$out/$family-starts.csv"
      done
      ;;
    families)
      for family in cifar10 ptb nmt; do
        own=()
        [ -f "models/placeto-$family-2gpu.plpo" ] && own=("models/placeto-$family-2gpu.plpo")
        "$train" eval models/default.plpo "${own[@]}" --sets "$family" --groups 128 --baselines \
          --rnn 300 --budgets 30 100 300 1000 --long-evaluations 5000 --threads 1 \
          --csv "$out/$family.csv" --svg "$out/$family-cdf.svg" --cdf "$out/$family-cdf.csv" \
          --effort "$out/$family-effort.svg"
      done
      ;;
    generalization)
      "$train" eval models/default.plpo "${families[@]}" --groups 128 --budgets 300 \
        --long-searches 2 --long-evaluations 3000 --threads 1 \
        --sets cifar10-seen cifar10 ptb-seen ptb nmt-seen nmt nmt-slow nmt-fast \
        --csv "$out/generalization.csv" --bars "$out/generalization.svg"
      ;;
    topologies)
      "$train" eval models/default.plpo --sets mixed devices-12 devices-16 ring bus tree \
        --problems 32 --budgets 300 1000 --long-evaluations 5000 --threads 1 \
        --csv "$out/topologies.csv" --bars "$out/topologies.svg"
      ;;
    pareto)
      "$train" pareto models/default.plpo --problems 24 --csv "$out/pareto.csv" --svg "$out/pareto.svg"
      ;;
    table)
      "$train" table models/default.plpo "${families[@]}" --rnn 5000 --hierarchical 5000 \
        --trained 1200000 --csv "$out/table.csv"
      for seed in 2 3; do
        "$train" table models/default.plpo --rnn 5000 --hierarchical 5000 --trained 1200000 \
          --seed "$seed" --csv "$out/table-$seed.csv"
      done
      ;;
    equal-time)
      "$train" eval models/default.plpo --equal-time --problems 64 --large 32 --threads 1 \
        --sets mixed large devices-12 devices-16 ring bus tree cifar10 ptb nmt --csv "$out/equal-time.csv"
      # Training steps of 570 to 4,200 operators.
      nets=$(mktemp -d)
      trap 'rm -rf "$nets"' EXIT
      generate() { "$(dirname "$train")/placeto" generate "${@:2}" --training -o "$nets/$1.graph"; }
      for network in resnet50 bert_base bert_large inception_v3 nasnet_a_large nmt mixture_of_experts; do
        generate "$network" "$network"
      done
      generate nmt4 nmt --length 10 --layers 4
      generate gpt2_small gpt2 --size small
      generate gpt2_medium gpt2 --size medium
      for seed in 1 2 3 4; do
        generate "enas_cifar10_$seed" enas_cifar10 --seed "$seed"
        generate "enas_ptb_$seed" enas_ptb --seed "$seed" --length 20
      done
      "$train" eval models/default.plpo --equal-time --threads 1 --graphs "$nets/*.graph" \
        --topologies models/topologies/{4xk80,8xk80,2x4-gpu-two-hosts,4xa100-nvlink}.json \
        --csv "$out/equal-time-networks.csv"
      # Random graphs run in stages, on machines whose stages and cuts have prices.
      rm "$nets"/*
      for family in layered series_parallel fork_join erdos; do
        for nodes in 20 40 80 160 240; do
          for ccr in 0.1 0.3 1 3; do
            "$(dirname "$train")/placeto" generate "$family" --nodes "$nodes" --ccr "$ccr" \
              --seed 9000 -o "$nets/${family}_${nodes}_$ccr.graph"
          done
        done
      done
      for machine in 2xk80 4xk80 cpu+gpu; do
        sed -e 's/"parallel"/"staged"/' \
          -e 's/"kind"/"stage_us": 20, "cut_us": 5, "cut_bytes_per_us": 5000, "kind"/' \
          "models/topologies/$machine.json" >"$nets/$machine.json"
      done
      "$train" eval models/default.plpo --equal-time --threads 1 --graphs "$nets/*.graph" \
        --topologies "$nets/*.json" --csv "$out/equal-time-staged.csv"
      ;;
    *)
      echo "unknown step $step" >&2
      exit 2
      ;;
  esac
done
